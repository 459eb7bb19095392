"""Titles of chapters, from the table of contents of an EPUB, of both kinds."""

from __future__ import annotations

from typing import Any

from eunoe_extractor.backends.blocks import clean
from eunoe_extractor.backends.package import Package, local, resolve


def chapter_titles(package: Package, root: str, book: Any) -> dict[str, str]:
    """The first title that leads to each member. Without a table of contents, or with a damaged one, there are none."""
    titles: dict[str, str] = {}
    for item in (each for each in book.iter() if local(each) == "item"):
        is_page = "nav" in (item.get("properties") or "").split()
        name = resolve(root, item.get("href") or "")
        if name is None or not (is_page or "ncx" in (item.get("media-type") or "")):
            continue
        tree = package.optional(name)
        for href, title in () if tree is None else (_links(tree) if is_page else _points(tree)):
            target = resolve(name, href)
            if target is not None and title:
                titles.setdefault(target, title)
    return titles


def _links(tree: Any) -> list[tuple[str, str]]:
    return [(each.get("href") or "", _text(each)) for each in tree.iter() if local(each) == "a"]


def _points(tree: Any) -> list[tuple[str, str]]:
    found = []
    for point in (each for each in tree.iter() if local(each) == "navPoint"):
        label = next((each for each in point if local(each) == "navLabel"), None)
        content = next((each for each in point if local(each) == "content"), None)
        if label is not None and content is not None:
            found.append((content.get("src") or "", _text(label)))
    return found


def _text(element: Any) -> str:
    return " ".join(clean("".join(element.itertext())).split())
