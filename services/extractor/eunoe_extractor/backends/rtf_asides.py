"""Texts of RTF that do not stand where they are written: notes, comments, margins, properties, signs of items."""

from __future__ import annotations

from eunoe_extractor.backends import rtf_tables as words
from eunoe_extractor.backends.rtf_flow import Flow

LONGEST_VALUE = 300


class Asides:
    """Starts and ends the flows of such texts. `margins` are those of headers and footers."""

    def __init__(self) -> None:
        self.margins: list[str] = []
        self.properties: dict[str, str] = {}
        self._author = ""
        self._notes = 0

    def open(self, name: str, around: Flow) -> Flow:
        """A flow for the destination `name`; a footnote leaves its number in the text around it."""
        flow = Flow(words.FLOWS[name], name)
        if name == "footnote":
            self._notes += 1
            around.write(f"[{self._notes}]")
            flow.write(f"[{self._notes}] ")
        return flow

    def close(self, flow: Flow, around: Flow) -> str:
        """Keep the text of a flow where it belongs; returns the sign of an item, else ""."""
        text = " ".join(filter(None, (" ".join(flow.take().split()), *flow.later)))
        if flow.kind == "mark":
            return text or "-"
        if flow.kind == "margin":
            self.margins.append(text)
        elif flow.name == "atnauthor":
            self._author = text
        elif flow.kind == "value" and text:
            self.properties[flow.name] = text[:LONGEST_VALUE]
        elif flow.kind == "note" and text:
            author = f" ({self._author})" if self._author else ""
            around.later.append(f"Comment{author}: {text}" if flow.name == "annotation" else text)
        return ""
