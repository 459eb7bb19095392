"""Every supported file of the document collection beside the repository, read in the sandbox and compared with its manifest."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from eunoe_contracts.errors import ContentError
from eunoe_extractor.parsed import ParsedDocument
from eunoe_extractor.parsing import SandboxedParser, parser_pool
from eunoe_safety.sniffer import sniff_path

COLLECTION = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "documents"
FORMATS = {
    "txt",
    "md",
    "html",
    "pdf",
    "docx",
    "csv",
    "tsv",
    "json",
    "ndjson",
    "xml",
    "vtt",
    "srt",
    "rst",
    "pptx",
    "xlsx",
    "odt",
    "ods",
    "odp",
    "rtf",
    "epub",
}
SCANS = {
    "pdf/ocr_test_rotated_90.pdf",
    "pdf/sample_with_rotation_mismatch.pdf",
    "pdf/loremipsum-flat.pdf",
    "pdf/MEDRPT-2024-PAT-3847_medical_report_scan.pdf",
    "pdf/skew.pdf",
}
"""Pictures of text: they need OCR, which this version does not have."""
ERRORS = {"encrypted": "encrypted_document", "corrupt": "corrupt_document", "empty": "empty_file"}
MARKS = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "|": " ", **dict.fromkeys("*_`\\#")})


def rows() -> list[dict[str, Any]]:
    manifest = COLLECTION / "manifest.jsonl"
    if not manifest.is_file():
        return []
    found = [json.loads(line) for line in manifest.read_text(encoding="utf-8").splitlines()]
    return [each for each in found if each["format"] in FORMATS]


def plain(text: str) -> str:
    kept = "".join(each for each in unicodedata.normalize("NFKC", text) if unicodedata.category(each) != "Cf")
    return " ".join(kept.translate(MARKS).split()).casefold()


def holds(text: str, phrase: str, share: float) -> bool:
    if share >= 1:
        return plain(phrase) in text
    words = re.findall(r"\w+", plain(phrase))
    return sum(1 for each in words if each in text) >= share * len(words)


@pytest.fixture
async def parser() -> AsyncIterator[SandboxedParser]:
    pool = parser_pool(1)
    yield SandboxedParser(pool)
    await pool.stop()


async def read(parser: SandboxedParser, row: dict[str, Any]) -> ParsedDocument:
    path = COLLECTION / row["path"]
    format_id = sniff_path(path, name=row["path"]).require()
    return await parser.parse(path, format_id=format_id, name=path.name)


@pytest.mark.skipif(not rows(), reason="THE DOCUMENT COLLECTION IS NOT THERE: ../shared/data/documents; nothing was compared")
@pytest.mark.parametrize("row", rows(), ids=lambda row: row["path"])
async def test_reads_what_the_manifest_says(parser: SandboxedParser, row: dict[str, Any]):
    if row["outcome"] == "error" or row.get("bytes") == 0:
        with pytest.raises(ContentError) as caught:
            await read(parser, row)
        assert caught.value.code == ERRORS[row.get("error_kind", "empty")]
        return
    document = await read(parser, row)
    if row["path"] in SCANS:
        assert any("scans" in each for each in document.warnings)
        return
    text = plain(document.text)
    for phrase in row.get("contains", []):
        spellings = [phrase, *row.get("alternatives", {}).get(phrase, [])]
        assert any(holds(text, each, row.get("min_match", 1)) for each in spellings), phrase
    for phrase in row.get("absent", []):
        assert plain(phrase) not in text
