"""Documents that are zip containers: checked before anything is read, XML without entities, Open XML relations and properties."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from urllib.parse import unquote

from eunoe_contracts.errors import CorruptDocument, EmptyFile
from eunoe_safety.archive_budget import check_zip
from eunoe_safety.sniffer import OLE, sniff_ole
from lxml import etree

from eunoe_extractor.backends.blocks import clean

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)
SAFE: dict[str, bool] = {
    "resolve_entities": False,
    "no_network": True,
    "huge_tree": False,
    "load_dtd": False,
    "remove_comments": True,
    "remove_pis": True,
}
"""Options of every XML parser of lxml, `iterparse` too."""
CORE_PROPERTIES = "docProps/core.xml"
PROPERTIES = {
    "title": "{http://purl.org/dc/elements/1.1/}title",
    "author": "{http://purl.org/dc/elements/1.1/}creator",
    "language": "{http://purl.org/dc/elements/1.1/}language",
    "created": "{http://purl.org/dc/terms/}created",
    "modified": "{http://purl.org/dc/terms/}modified",
}
LONGEST_PROPERTY = 300


def parse_xml(data: bytes) -> Any:
    """The root element. Raises `CorruptDocument`; nothing outside of `data` is read."""
    try:
        return etree.fromstring(data, etree.XMLParser(**SAFE))
    except etree.XMLSyntaxError as error:
        raise CorruptDocument("a part of the document is damaged XML") from error


def local(element: Any) -> str:
    """The name of an element without its namespace; "" for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """The attribute with that name in any namespace, without one first; "" when there is none."""
    found = element.get(name)
    if found is None:
        found = next((value for key, value in element.attrib.items() if key.endswith(f"}}{name}")), "")
    return str(found)


def resolve(base: str, href: str) -> str | None:
    """The member that `href` means in the member `base`; None when it leads outside. Fragments are dropped."""
    target = unquote(href.partition("#")[0]).replace("\\", "/")
    if ":" in target or not target:
        return None
    joined = target.lstrip("/") if target.startswith("/") else posixpath.join(posixpath.dirname(base), target)
    normal = posixpath.normpath(joined)
    return None if normal == ".." or normal.startswith("../") else normal


@dataclass(frozen=True, slots=True)
class Relation:
    """What one Open XML part says about another: its id, the last word of its type, and the member it leads to."""

    id: str
    kind: str
    target: str


class Package:
    """A checked container, open for reading; use it as a context manager.

    Opening raises `EmptyFile`, `EncryptedDocument` for an Office file with a password, `CorruptDocument`, `BudgetExceeded`.
    """

    def __init__(self, path: Path) -> None:
        if path.stat().st_size == 0:
            raise EmptyFile
        with path.open("rb") as file:
            is_ole = file.read(len(OLE)) == OLE
        if is_ole:
            _look_into(path)
            raise CorruptDocument("the file is an old Office document, not of the format it was taken for")
        self.names = frozenset(check_zip(path))
        self._archive = zipfile.ZipFile(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._archive.close()

    def open(self, name: str) -> IO[bytes]:
        """A member as a stream. Raises `CorruptDocument` when it is not there."""
        if name not in self.names:
            raise CorruptDocument("a part of the document is missing")
        return self._archive.open(name)

    def read(self, name: str) -> bytes:
        """The bytes of a member. Raises `CorruptDocument` when it is not there or damaged."""
        try:
            with self.open(name) as stream:
                return stream.read()
        except DAMAGED as error:
            raise CorruptDocument("a part of the document is damaged") from error

    def tree(self, name: str) -> Any:
        """The root element of a member. Raises `CorruptDocument`."""
        return parse_xml(self.read(name))

    def optional(self, name: str | None) -> Any | None:
        """The root element of a member, or None when there is none or it is damaged: for parts the text does not depend on."""
        if name is None or name not in self.names:
            return None
        try:
            return self.tree(name)
        except CorruptDocument:
            return None

    def relations(self, part: str) -> list[Relation]:
        """The relations of an Open XML part to members that exist."""
        folder, name = posixpath.split(part)
        tree = self.optional(posixpath.join(folder, "_rels", f"{name}.rels"))
        found = []
        for each in () if tree is None else tree:
            target = None if each.get("TargetMode") == "External" else resolve(part, each.get("Target") or "")
            if target in self.names and target is not None:
                found.append(Relation(each.get("Id") or "", (each.get("Type") or "").rpartition("/")[2], target))
        return found

    def properties(self) -> dict[str, str]:
        """Title, author, language and dates of an Open XML document, as far as they are given."""
        tree = self.optional(CORE_PROPERTIES)
        return {} if tree is None else texts_of(tree, PROPERTIES)


def _look_into(path: Path) -> None:
    """Raises `EncryptedDocument` for an Office file with a password."""
    try:
        sniff_ole(path)
    except RecursionError as error:  # its folders hold each other
        raise CorruptDocument("the Office container is damaged") from error


def texts_of(tree: Any, tags: dict[str, str]) -> dict[str, str]:
    """The texts of some descendants by the names given to their tags; what is empty is left out."""
    found = {name: clean(tree.findtext(f".//{tag}") or "").strip()[:LONGEST_PROPERTY] for name, tag in tags.items()}
    return {name: value for name, value in found.items() if value}
