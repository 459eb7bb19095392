"""Documents that came in without a model: doctor and readiness say how many rows have no vector, and what repairs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from eunoe_contracts.stages import DocumentStatus
from eunoe_contracts.tenancy import DEFAULT_TENANT
from eunoe_models.artifacts import Loaded
from eunoe_models.testing import HashingEmbedder
from eunoe_standalone import composition, repair
from eunoe_standalone.local_checks import Check
from eunoe_standalone.testing_pipeline import Pipeline, pipeline, until

TEXTS = ("The lake was cold that year.", "Alice likes tea.")


@contextmanager
def a_model() -> Iterator[None]:
    """What a `models pull` brings."""

    def load(*_: Any, **__: Any) -> Loaded:
        model = HashingEmbedder()
        return Loaded(model, model.counter)

    with patch.object(composition, "load_embedder", load), patch.object(repair, "load_embedder", load):
        yield


async def embeddings(folder: Path, *, rebuild: bool = False) -> Check:
    checks = await repair.audit_offline(folder, fix=False, rebuild=rebuild, tell=lambda _: None)
    (found,) = [each for each in checks if each.name == "audit: embeddings"]
    assert all(each.ok for each in checks if each is not found)
    return found


async def index_part(running: Pipeline) -> tuple[bool, str]:
    answer = await running.parts.application.readiness()
    part = dict(answer.parts["vector index"])
    return bool(part["ok"]), str(part["reason"])


async def test_rows_of_before_the_model_are_told_and_repaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with pipeline(tmp_path) as running:
        for text in TEXTS:
            await running.ended(await running.post(text))
        rows = await running.stores.vectors.count(DEFAULT_TENANT)
        assert "no vector" not in (await index_part(running))[1], "without a model there is nothing to repair"
    assert rows >= len(TEXTS)

    monkeypatch.setenv("EUNOE_MODELS__PROFILE", "none")
    by_choice = await embeddings(tmp_path)
    assert by_choice.ok
    assert f"{rows} of {rows} rows have no vector" in by_choice.reason

    monkeypatch.setenv("EUNOE_MODELS__PROFILE", "minilm")
    monkeypatch.setenv("EUNOE_MODELS__DIR", str(tmp_path / "no-models"))
    missing = await embeddings(tmp_path)
    assert not missing.ok
    assert missing.reason.endswith("run `eunoe models pull minilm`, then `eunoe doctor --rebuild`")

    with a_model(), patch.object(repair, "missing_model", lambda _: ""):
        found = await embeddings(tmp_path)
        assert not found.ok
        assert f"{rows} of {rows} rows have no vector" in found.reason
        assert found.reason.endswith("run `eunoe doctor --rebuild`")

        async with pipeline(tmp_path) as running:

            async def told() -> bool:
                return f"{rows} rows have no vector" in (await index_part(running))[1]

            await until(told)
            ok, reason = await index_part(running)
            assert ok, "search goes on by words"
            assert "`eunoe doctor --rebuild`" in reason

        mended = await embeddings(tmp_path, rebuild=True)
        assert (mended.ok, mended.reason) == (True, f"all {rows} rows have a vector")
        async with pipeline(tmp_path) as running:
            await running.ended(await running.post("A third one."))
            assert await running.stores.vectors.without_vectors(DEFAULT_TENANT) == 0
            assert "no vector" not in (await index_part(running))[1]


async def test_a_rebuild_without_a_model_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with pipeline(tmp_path) as running:
        await running.ended(await running.post(TEXTS[0]))
    monkeypatch.setenv("EUNOE_MODELS__PROFILE", "minilm")
    monkeypatch.setenv("EUNOE_MODELS__DIR", str(tmp_path / "no-models"))
    said: list[str] = []
    await repair.audit_offline(tmp_path, fix=False, rebuild=True, tell=said.append)
    assert any("without vectors" in each and "models pull" in each for each in said)


async def test_a_text_that_the_model_cannot_take_ends_in_the_dead_letters_alone(tmp_path: Path) -> None:
    model = HashingEmbedder()
    model.poison = "zalgo"
    with patch.object(composition, "load_embedder", lambda *_, **__: Loaded(model, model.counter)):
        async with pipeline(tmp_path) as running:
            poisoned, sound = await running.post("A text with zalgo in it."), await running.post(TEXTS[0])
            await running.ended(sound)
            ended = await running.ended(poisoned, DocumentStatus.FAILED)
            assert ended.error_code == "not_embeddable"
            assert [letter.attempts for letter in await running.letters(poisoned)] == [1], "at once, not after hours of tries"
            assert await running.hits("zalgo") == []
            model.poison = ""  # another model, say
            assert await running.replay(poisoned) == 1
            await running.ended(poisoned)
            assert str(poisoned) in await running.hits("zalgo")
