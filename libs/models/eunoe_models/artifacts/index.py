"""The simple index: which one, and where it has a file (PEP 503 HTML, PEP 691 JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

from eunoe_contracts.errors import ModelMissing

from eunoe_models.artifacts.pip_settings import pip_value

PUBLIC_INDEX = "https://pypi.org/simple/"
"""The only place in eunoe that names a public index; every setting comes before it."""
ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"


def index_url(setting: str, environment: Mapping[str, str]) -> str:
    """Our setting, else pip's and uv's variables, else pip's configuration files, else the public index; ends with a slash."""
    found = (
        setting
        or environment.get("PIP_INDEX_URL", "")
        or environment.get("UV_DEFAULT_INDEX", "")
        or environment.get("UV_INDEX_URL", "")
        or pip_value("index-url", environment)
        or PUBLIC_INDEX
    )
    if re.match(r"[A-Za-z0-9_-]+=https?:", found):  # uv allows NAME=URL
        found = found.partition("=")[2]
    return found.rstrip("/") + "/"


def project_url(index: str, distribution: str) -> str:
    """Page of a distribution, its name normalised (PEP 503)."""
    return urljoin(index, re.sub(r"[-_.]+", "-", distribution).lower() + "/")


def file_url(page: bytes, *, content_type: str, page_url: str, file: str) -> str:
    """Address of one file on a project page. Raises `ModelMissing` when the page does not list it."""
    listed = _json_files(page) if "json" in content_type else _html_files(page)
    if file not in listed:
        raise ModelMissing(
            f"the package index at {shown(page_url)} does not have {file}; set EUNOE_MODELS__INDEX_URL, or pull from a local file"
        )
    return urldefrag(urljoin(page_url, listed[file])).url


def shown(url: str) -> str:
    """Scheme, host and path only: an address may carry a password."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def _json_files(page: bytes) -> dict[str, str]:
    try:
        return {str(each["filename"]): str(each["url"]) for each in json.loads(page)["files"]}
    except (ValueError, KeyError, TypeError) as error:
        raise ModelMissing("the answer of the package index is not a project page (PEP 691)") from error


def _html_files(page: bytes) -> dict[str, str]:
    parser = _Anchors()
    parser.feed(page.decode("utf-8", "replace"))
    return parser.files


class _Anchors(HTMLParser):
    """Anchor texts and their targets; the text of an anchor is the file name (PEP 503)."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}
        self._target = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._target = dict(attrs).get("href") or ""

    def handle_data(self, data: str) -> None:
        if self._target and data.strip():
            self.files[data.strip()] = self._target

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._target = ""
