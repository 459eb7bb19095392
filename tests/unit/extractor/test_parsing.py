from __future__ import annotations

import importlib
import importlib.util
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from eunoe_contracts.errors import CapabilityUnavailable, CorruptDocument, ParserCrashed, ParserTimeout
from eunoe_contracts.formats import FORMATS, Format
from eunoe_extractor.backends.registry import BACKENDS
from eunoe_extractor.parsed import Block, BlockKind, ParsedDocument
from eunoe_extractor.parsing import SandboxedParser, parser_pool
from eunoe_extractor.wire import from_wire, to_wire
from eunoe_safety.sandbox.frames import to_json
from eunoe_safety.sandbox.pool import WorkerPool

MISBEHAVE = "eunoe_safety.sandbox.testing:"


@pytest.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    made = parser_pool(1)
    yield made
    await made.stop()


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.id)
def test_every_format_has_a_backend(each: Format):
    assert callable(importlib.import_module(BACKENDS[each.id]).parse)
    assert all(importlib.util.find_spec(name) is not None for name in each.needs)


def test_no_two_formats_share_a_name():
    for shared in (
        [each.id for each in FORMATS],
        [name for each in FORMATS for name in each.media_types],
        [name for each in FORMATS for name in each.extensions],
    ):
        assert len(shared) == len(set(shared))


async def test_reads_in_a_worker_and_survives_bad_documents(pool: WorkerPool, tmp_path: Path):
    parser = SandboxedParser(pool)
    good, bad = tmp_path / "good.md", tmp_path / "bad.pdf"
    good.write_text("# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", encoding="utf-8")
    bad.write_bytes(b"%PDF-1.7 rubbish")
    with pytest.raises(CorruptDocument):
        await parser.parse(bad, format_id="pdf", name="bad.pdf")
    with pytest.raises(ParserTimeout):
        await pool.run(MISBEHAVE + "hang", wall_s=0.3)
    with pytest.raises(ParserCrashed):
        await pool.run(MISBEHAVE + "die", int(signal.SIGSEGV))
    document = await parser.parse(good, format_id="markdown", name="good.md")
    assert document.title == "Title"
    assert document.blocks[1].rows == (("1", "2"),)
    assert document.metadata["charset"] == "utf-8"


async def test_unknown_format(pool: WorkerPool, tmp_path: Path):
    with pytest.raises(CapabilityUnavailable):
        await SandboxedParser(pool).parse(tmp_path / "x", format_id="klingon", name="x")


def test_wire_keeps_everything():
    block = Block(BlockKind.TABLE, "t", 1, 2, 3.0, 4.5, "Ann", ("a", "b"), ("h",), (("c",), ("d",)), "de")
    document = ParsedDocument("pdf", "T", (block, Block(BlockKind.QUOTE, "q")), ("w",), {"k": "v"})
    assert from_wire(json.loads(to_json(to_wire(document)))) == document


@pytest.mark.parametrize(
    "value", [None, 1, [], {"a": 1}, ["pdf", "t", [["no such kind"]], [], {}], ["pdf", "t", [], [], []], ["pdf", "t", 3, [], {}]]
)
def test_wire_refuses_what_is_no_document(value: object):
    with pytest.raises(ParserCrashed):
        from_wire(value)
