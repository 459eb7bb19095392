"""From settings to a model, or to a reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from eunoe_models.artifacts import build, is_ready, load_embedder
from eunoe_models.artifacts.cache import is_intact, model_dir, weights_dir
from eunoe_models.artifacts.table import ARTIFACTS
from eunoe_models.config import ModelSettings, default_dir
from eunoe_models.embedding.session import default_threads
from pydantic import ValidationError


async def test_no_profile_and_no_files_give_a_reason_and_a_counter(tmp_path: Path) -> None:
    for settings, said in (
        (ModelSettings(profile="none", dir=tmp_path), "EUNOE_MODELS__PROFILE=none"),
        (ModelSettings(dir=tmp_path / "empty"), "eunoe models pull minilm"),
    ):
        loaded = load_embedder(settings)
        assert loaded.model is None
        assert said in loaded.reason
        assert loaded.counter.window == 500
        await loaded.close()
    assert not (tmp_path / "empty").exists()


async def test_a_missing_library_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eunoe_models.artifacts.loading.is_intact", lambda *_, **__: True)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    loaded = load_embedder(ModelSettings(dir=tmp_path))
    assert loaded.model is None
    assert "tokenizers cannot be imported" in loaded.reason


@pytest.fixture
def copied(tmp_path: Path) -> ModelSettings:
    """A cache of its own with the real weights, as on a machine to which only they were copied."""
    there = ModelSettings()
    source = weights_dir(ARTIFACTS["minilm"], settings=there)
    if not (source / "manifest.json").exists():
        pytest.skip(f"the model is not in {there.dir}; run `make models`")
    settings = ModelSettings(dir=tmp_path / "models")
    target = weights_dir(ARTIFACTS["minilm"], settings=settings)
    target.parent.mkdir(parents=True)
    target.symlink_to(source)
    return settings


async def test_weights_without_a_graph_are_built_and_a_damaged_graph_is_built_again(copied: ModelSettings) -> None:
    assert not is_ready("minilm", settings=copied)
    loaded = load_embedder(copied)
    assert loaded.model is not None, loaded.reason
    assert loaded.counter is loaded.model.counter
    await loaded.close()
    graph = model_dir("minilm", settings=copied) / "model.onnx"
    whole = graph.read_bytes()
    graph.write_bytes(whole[:-1000])
    assert is_ready("minilm", settings=copied)
    assert not is_intact("minilm", settings=copied)
    again = load_embedder(copied)
    assert again.model is not None, again.reason
    await again.close()
    assert graph.read_bytes() == whole
    assert build("minilm", settings=copied) == graph.parent


def test_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_dir() == tmp_path / "eunoe" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_dir() == Path.home() / ".cache" / "eunoe" / "models"
    monkeypatch.setenv("EUNOE_MODELS__THREADS", "3")
    assert ModelSettings().threads == 3
    with pytest.raises(ValidationError):
        ModelSettings(profile="other")
    assert 1 <= default_threads() <= 4
