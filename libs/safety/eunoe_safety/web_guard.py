"""Who may call an HTTP door from a browser: pure checks of request headers, for every door alike.

They stop a web page that the user happens to visit: a foreign origin, a form or `text/plain` POST, and a name that was re-bound to
the loopback address (DNS rebinding).
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from eunoe_contracts.errors import ForbiddenOrigin, UnsupportedContentType

DEFAULT_PORTS = {"http": 80, "https": 443}
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


def check_origin(origin: str | None, sec_fetch_site: str | None, host_header: str | None, allowed: Collection[str] = ()) -> None:
    """Accept requests that no browser page sent, pages of this very server (`Origin` names the host and port of `Host`), and pages of
    `allowed` hosts. Raises `ForbiddenOrigin` for any other `Origin`: `null`, and another port of this machine, which may be anybody's
    program. Without an `Origin`, `Sec-Fetch-Site` decides (Fetch metadata, https://www.w3.org/TR/fetch-metadata/).
    """
    refused = ForbiddenOrigin("the request comes from a web page of another site")
    site = (sec_fetch_site or "none").strip().lower()
    if origin is None:
        if site not in {"none", "same-origin"}:
            raise refused
        return
    scheme, separator, host = origin.strip().partition("://")
    if not separator or scheme.lower() not in DEFAULT_PORTS:
        raise refused
    if site != "cross-site" and _same_host(host, host_header or "", scheme.lower()):
        return
    if not _listed(_host_and_port(host), allowed):
        raise refused


def _same_host(host: str, host_header: str, scheme: str) -> bool:
    theirs, ours = _host_and_port(host), _host_and_port(host_header.strip())
    if theirs is None or ours is None:
        return False
    port = DEFAULT_PORTS[scheme]
    return (theirs[0], theirs[1] or port) == (ours[0], ours[1] or port)


def check_json_content_type(content_type: str | None) -> None:
    """Accept `application/json` and `application/*+json`, which no HTML form can send. Raises `UnsupportedContentType` for all else."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedContentType("send the body as application/json")


def _accepted(host: str, allowed: Collection[str]) -> bool:
    parsed = _host_and_port(host)
    if parsed is None:
        return False
    return parsed[0] in LOOPBACK_NAMES or _listed(parsed, allowed)


def _listed(parsed: tuple[str, int | None] | None, allowed: Collection[str]) -> bool:
    """Whether the host is one of `allowed`, which may carry a scheme; an entry without a port accepts any."""
    if parsed is None:
        return False
    wanted = (_host_and_port(each.partition("://")[2] or each) for each in allowed)
    return any(each is not None and each[0] == parsed[0] and each[1] in {None, parsed[1]} for each in wanted)


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
