"""HTTPS with the standard library: certificates as pip is told, proxies from the environment, no plain HTTP but on loopback."""

from __future__ import annotations

import base64
import ipaddress
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPMessage
from typing import IO, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from eunoe_contracts.errors import ModelMissing

from eunoe_models.artifacts.index import shown
from eunoe_models.artifacts.pip_settings import pip_value

TIMEOUT_S = 60.0
USER_AGENT = "eunoe"


class Http:
    """Opens addresses; made once per pull."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        # Without a setting of pip's, OpenSSL's defaults hold, which read SSL_CERT_FILE and SSL_CERT_DIR.
        authority = pip_value("cert", environment) or None
        try:
            context = ssl.create_default_context(cafile=authority)
        except OSError as error:
            raise ModelMissing(f"the certificate file {authority} (PIP_CERT or pip's configuration) cannot be read") from error
        self._logins: dict[tuple[str, str], str] = {}
        self._opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _Redirects())

    def open(self, url: str, headers: Mapping[str, str]) -> Any:
        """A response to read and close. Raises `ModelMissing` for an address that is not allowed, else `OSError`."""
        parts = urlsplit(checked(url))
        host = parts.netloc.rpartition("@")[2]
        if parts.username:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._logins[parts.scheme, host] = "Basic " + base64.b64encode(login.encode()).decode()
        request = urllib.request.Request(urlunsplit(parts._replace(netloc=host)), headers={"User-Agent": USER_AGENT, **headers})  # noqa: S310 - scheme checked above
        if known := self._logins.get((parts.scheme, host)):
            # Files beside the index need the same login; unredirected, it stays with the host it was given for.
            request.add_unredirected_header("Authorization", known)
        return self._opener.open(request, timeout=TIMEOUT_S)


def checked(url: str) -> str:
    """The address itself when it is HTTPS, or HTTP to this machine; else `ModelMissing`."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url
    if parts.scheme == "http" and _is_loopback(parts.hostname or ""):
        return url
    raise ModelMissing(f"model files are fetched over HTTPS only, not from {shown(url)}")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to allowed addresses only."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        try:
            allowed = checked(newurl)
        except ModelMissing:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, allowed)
