"""Who may call an HTTP door from a browser: pure checks of request headers, for every door alike.

They stop a web page that the user happens to visit: a foreign origin, a form or `text/plain` POST, and a name that was re-bound to
the loopback address (DNS rebinding).
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from eunoe_contracts.errors import ForbiddenOrigin, UnsupportedContentType

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether a host name or address, with or without brackets, can only be this machine: `localhost`, 127.0.0.0/8, ::1."""
    name = host.strip().strip("[]").rstrip(".").lower()
    if name == "localhost":
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def check_host(host_header: str | None, allowed: Collection[str] = ()) -> None:
    """Accept a `Host` header that names this machine's loopback or one of `allowed`, with any port; a name in `allowed` that has a
    port accepts only that port. Raises `ForbiddenOrigin` otherwise, also without a header.
    """
    if not _accepted((host_header or "").strip(), allowed):
        raise ForbiddenOrigin("the Host header names a host that this server does not answer for; add it to the allowed hosts if it should")


def check_origin(origin: str | None, sec_fetch_site: str | None, allowed: Collection[str] = ()) -> None:
    """Accept requests that no browser page sent, and pages of loopback names or of `allowed` hosts. Raises `ForbiddenOrigin` for
    any other `Origin` (also `null`) and for `Sec-Fetch-Site: cross-site`.
    """
    refused = ForbiddenOrigin("the request comes from a web page of another site")
    if (sec_fetch_site or "").strip().lower() == "cross-site":
        raise refused
    if origin is None:
        return
    scheme, separator, host = origin.strip().partition("://")
    if not separator or scheme.lower() not in {"http", "https"} or not _accepted(host, allowed):
        raise refused


def check_json_content_type(content_type: str | None) -> None:
    """Accept `application/json` and `application/*+json`, which no HTML form can send. Raises `UnsupportedContentType` for all else."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedContentType("send the body as application/json")


def _accepted(host: str, allowed: Collection[str]) -> bool:
    parsed = _host_and_port(host)
    if parsed is None:
        return False
    name, port = parsed
    if name in LOOPBACK_NAMES:
        return True
    for each in allowed:
        wanted = _host_and_port(each)
        if wanted is not None and wanted[0] == name and wanted[1] in {None, port}:
            return True
    return False


def _host_and_port(value: str) -> tuple[str, int | None] | None:
    """Lower-case name without brackets and final dot, and the port; None when it is no host."""
    if not value or any(each in value for each in "/\\@?# \t,"):
        return None
    if value.count(":") > 1 and not value.startswith("["):
        value = f"[{value}]"  # a bare IPv6 address, as settings have it
    try:
        parts = urlsplit(f"//{value}")
        name, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (name.rstrip("."), port) if name else None
