"""Every Dockerfile is made by the same rules, and its lists are those of the code."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import image_packages
import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCKERFILES = {
    **{each.parent.name: each for each in (ROOT / "services").glob("*/Dockerfile")},
    "eunoe": ROOT / "standalone" / "Dockerfile",
}
EXAMPLE = "graph"
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def instructions(image: str) -> list[str]:
    text = re.sub(r"^#.*\n", "", DOCKERFILES[image].read_text(encoding="utf-8"), flags=re.MULTILINE)
    return re.sub(r"\\\n\s*", "", text).split("\n")


def only(image: str, word: str) -> str:
    (found,) = [each.removeprefix(f"{word} ") for each in instructions(image) if each.startswith(f"{word} ")]
    return found


def project(image: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = tomllib.loads((DOCKERFILES[image].parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


@pytest.mark.parametrize("image", image_packages.images())
def test_the_list_of_an_image_is_current(image: str) -> None:
    written = (image_packages.FOLDER / f"{image}.txt").read_text(encoding="utf-8")
    assert written == image_packages.text(image), "make image-packages writes it"


@pytest.mark.parametrize("image", image_packages.images())
def test_every_listed_package_is_locked(image: str) -> None:
    locked = set(re.findall(r"^([a-z0-9._-]+)==\S+ (?:;.*)?\\\n +--hash=sha256:", LOCK, re.MULTILINE))
    names = (image_packages.FOLDER / f"{image}.txt").read_text(encoding="utf-8").split()
    assert [each for each in names if each not in locked] == []
    assert not set(names) & {"pytest", "mypy", "ruff", "hypothesis", "grpcio-tools"}


@pytest.mark.parametrize("image", DOCKERFILES)
def test_an_image_gets_the_members_that_it_needs(image: str) -> None:
    (wheel,) = [each for each in instructions(image) if each.startswith("RUN pip wheel")]
    own = image_packages.closure(image_packages.images()[image])[1]
    folders = {f"./{image_packages.members()[name].relative_to(ROOT)}" for name in own}
    assert set(re.findall(r"\./\S+", wheel)) == ({"./standalone"} if image == "eunoe" else folders)


@pytest.mark.parametrize("image", DOCKERFILES)
def test_an_image_is_pinned_small_and_without_rights(image: str) -> None:
    lines = instructions(image)
    assert re.fullmatch(
        r"PYTHON_IMAGE=python:3\.\d+\.\d+-slim-\w+", next(each.removeprefix("ARG ") for each in lines if each.startswith("ARG "))
    )
    assert [each for each in lines if each.startswith("FROM ")] == ["FROM ${PYTHON_IMAGE} AS build", "FROM ${PYTHON_IMAGE}"]
    assert only(image, "USER") == "10001:10001"
    assert only(image, "ENTRYPOINT") == json.dumps(list(project(image)["scripts"]))
    assert lines.index(f"USER {only(image, 'USER')}") > max(i for i, each in enumerate(lines) if each.startswith(("COPY ", "RUN ")))
    assert f'image.version="{project(image)["version"]}"' in only(image, "LABEL")
    assert "--require-hashes" in DOCKERFILES[image].read_text(encoding="utf-8")
    assert not re.search(r"curl|wget|\bADD\b|latest|apt-get", DOCKERFILES[image].read_text(encoding="utf-8"))


def test_images_differ_only_in_their_names() -> None:
    """The first stage is written once and copied."""
    stages = {
        image: "\n".join(instructions(image)).split("FROM ")[1].split("COPY libs/")[0].replace(image, "NAME") for image in DOCKERFILES
    }
    assert len(set(stages.values())) == 1


def test_the_gpu_embedder_is_the_embedder_with_more_packages() -> None:
    ours = DOCKERFILES["embedder"].read_text(encoding="utf-8").splitlines()
    theirs = DOCKERFILES["embedder"].with_name("Dockerfile.gpu").read_text(encoding="utf-8").splitlines()
    assert len(set(ours) - set(theirs)) == 9  # which packages, what it is called, where the model lies
    added = sorted(set(theirs) - set(ours))
    assert [each for each in added if "USER" in each or "FROM" in each or "ENTRYPOINT" in each] == []
    assert any("--require-hashes" in each and "-r embedder-gpu.lock" in each for each in added)
    assert not any("requirements.lock" in each and "embedder.txt" in each for each in theirs)


def test_the_gpu_embedder_has_the_versions_of_all_others() -> None:
    text = (image_packages.FOLDER / "embedder-gpu.lock").read_text(encoding="utf-8")
    locked = re.findall(r"^([a-z0-9._-]+)==([^ ;]+)[^\n]*\\\n +--hash=sha256:", text, re.MULTILINE)
    assert len(locked) == len(re.findall(r"^[a-z]", text, re.MULTILINE))
    assert {"sentence-transformers", "torch", *image_packages.text("embedder").split()} <= {name for name, _ in locked}
    others = set(re.findall(r"^([a-z0-9._-]+)==([^ ;]+)", LOCK, re.MULTILINE))
    known = {name for name, _ in others}
    assert {each for each in locked if each[0] in known} <= others
    assert not {"torch", "sentence-transformers"} & known


@pytest.mark.parametrize("image", [each for each in DOCKERFILES if each != "eunoe"])
def test_an_image_is_asked_by_its_own_python_whether_it_serves(image: str) -> None:
    check = only(image, "HEALTHCHECK")
    assert check == only(EXAMPLE, "HEALTHCHECK")
    assert "'/serving'" in check
    assert "curl" not in check
