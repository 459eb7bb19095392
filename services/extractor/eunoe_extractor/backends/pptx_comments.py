"""Comments on slides, of the old kind and of the newer one with replies."""

from __future__ import annotations

from typing import Any

from eunoe_extractor.backends.drawing import body_text
from eunoe_extractor.backends.package import Package, local
from eunoe_extractor.backends.part_blocks import PartBlocks
from eunoe_extractor.parsed import BlockKind

AUTHORS = ("ppt/commentAuthors.xml", "ppt/authors.xml")
COMMENTS = frozenset({"cm", "reply"})


class Comments:
    """Knows the authors; adds the comments of a slide below a heading."""

    def __init__(self, package: Package) -> None:
        self._package = package
        trees = [tree for each in AUTHORS if (tree := package.optional(each)) is not None]
        self._authors = {each.get("id") or "": each.get("name") or "" for tree in trees for each in tree}

    def add(self, blocks: PartBlocks, part: str) -> None:
        """Add the comments of the slide `part`, one paragraph each, with the author in front."""
        found = [text for each in self._package.relations(part) if each.kind == "comments" for text in self._read(each.target)]
        if found:
            blocks.heading("Comments", 2)
        for text in found:
            blocks.add(BlockKind.PARAGRAPH, text)

    def _read(self, name: str) -> list[str]:
        tree = self._package.optional(name)
        comments = [] if tree is None else [each for each in tree.iter() if local(each) in COMMENTS]
        texts = [(self._authors.get(each.get("authorId") or "", ""), _text(each)) for each in comments]
        return [f"{author}: {text}" if author else text for author, text in texts if text]


def _text(comment: Any) -> str:
    parts = [each.text or "" if local(each) == "text" else body_text(each) for each in comment if local(each) in {"text", "txBody"}]
    return " ".join(" ".join(parts).split())
