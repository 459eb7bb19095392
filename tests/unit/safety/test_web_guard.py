from __future__ import annotations

import pytest
from eunoe_contracts.errors import ForbiddenOrigin, UnsupportedContentType
from eunoe_safety.web_guard import check_host, check_json_content_type, check_origin, is_loopback


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "LOCALHOST.", "127.0.0.1:1", "[::1]:8000", "[::1]", "eunoe.example", "eunoe.example:9"]
)
def test_accepted_hosts(host: str):
    check_host(host, ["eunoe.example"])


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "localhost@evil.example",
        "evil.example#localhost",
        "a b",
        "[::1",
        "localhost:x",
    ],
)
def test_refused_hosts(host: str | None):
    with pytest.raises(ForbiddenOrigin):
        check_host(host, ["eunoe.example"])


def test_port_of_an_allowed_host_counts_when_given():
    check_host("eunoe.example:443", ["eunoe.example:443"])
    with pytest.raises(ForbiddenOrigin):
        check_host("eunoe.example:8080", ["eunoe.example:443"])


@pytest.mark.parametrize(
    ("origin", "site"),
    [
        (None, None),
        (None, "none"),
        (None, "same-origin"),
        ("http://localhost:8080", "same-origin"),
        ("http://LOCALHOST.:8080", None),
        ("https://eunoe.example", None),
        ("https://eunoe.example", "cross-site"),
    ],
)
def test_accepted_origins(origin: str | None, site: str | None):
    check_origin(origin, site, "localhost:8080", ["https://eunoe.example"])


@pytest.mark.parametrize(
    ("origin", "site"),
    [
        ("https://evil.example", None),
        ("null", None),
        ("", None),
        (None, "cross-site"),
        (None, "same-site"),
        ("http://localhost:3000", "same-site"),
        ("http://localhost", "same-site"),
        ("http://127.0.0.1:8080", None),
        ("http://[::1]:8080", None),
        ("http://localhost:8080", "cross-site"),
        ("http://localhost", "Cross-Site"),
        ("file://localhost", None),
        ("chrome-extension://localhost", None),
        ("http://localhost.evil.example", None),
    ],
)
def test_refused_origins(origin: str | None, site: str | None):
    with pytest.raises(ForbiddenOrigin):
        check_origin(origin, site, "localhost:8080", ["https://eunoe.example"])


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"])
def test_json_content_types(kind: str):
    check_json_content_type(kind)


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", "application/jsonp"],
)
def test_what_a_form_can_send_is_refused(kind: str | None):
    with pytest.raises(UnsupportedContentType):
        check_json_content_type(kind)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.8.9.1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("192.0.2.1", False),
        ("::", False),
        ("example", False),
        ("", False),
    ],
)
def test_loopback(host: str, expected: bool):  # a parameter of the table above
    assert is_loopback(host) is expected
