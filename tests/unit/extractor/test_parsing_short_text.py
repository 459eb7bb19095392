"""Short plain text needs no worker process; everything else goes there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from eunoe_extractor.parsing import SHORT_TEXT_BYTES, SandboxedParser


class Pool:
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def run(self, _function: str, format_id: str, *_args: Any) -> Any:
        self.asked.append(format_id)
        raise LookupError


async def test_a_short_utf8_text_is_read_here(tmp_path: Path) -> None:
    pool = Pool()
    (tmp_path / "note").write_text("One.\n\nTwo ä.", encoding="utf-8")
    parsed = await SandboxedParser(pool).parse(tmp_path / "note", format_id="text", name="note")  # type: ignore[arg-type]
    assert [block.text for block in parsed.blocks] == ["One.", "Two ä."]
    assert pool.asked == []


@pytest.mark.parametrize(
    ("data", "format_id"), [(b"caf\xe9", "text"), (b"a" * (SHORT_TEXT_BYTES + 1), "text"), (b"# Title", "markdown"), (b"<p>x</p>", "html")]
)
async def test_everything_else_goes_to_a_worker(tmp_path: Path, data: bytes, format_id: str) -> None:
    pool = Pool()
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(LookupError):
        await SandboxedParser(pool).parse(tmp_path / "file", format_id=format_id, name="file")  # type: ignore[arg-type]
    assert pool.asked == [format_id]
