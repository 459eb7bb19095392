"""A web page that the user happens to visit, against a server on the user's loopback: it changes nothing and reads nothing.

The requests are those that browsers send (Fetch standard; RFC 6265bis for sites). The server has no token, so that only the door's
own checks stand between the page and the data.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from eunoe.v1 import search_pb2
from eunoe_contracts import topics
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_gateway.config import AuthSettings, GatewaySettings
from eunoe_gateway.http.app import build_http
from eunoe_gateway.ports import GatewayPorts
from eunoe_gateway.wiring import build_application
from eunoe_stores.catalogue.testing import open_memory_catalogue
from eunoe_stores.testing import MemoryBlobStore, MemoryGraphStore, MemoryVectorIndex
from eunoe_stream.testing import MemoryLog
from eunoe_telemetry.metrics import Metrics
from eunoe_telemetry.testing import ManualClock, SequentialIds

SECRET = "The vault opens at noon"
DOCUMENT = {"content": SECRET, "container": "private", "name": "vault.txt"}
WHO = Principal("default", frozenset(Scope))
EVIL = "https://evil.example"
CROSS_SITE = {"origin": EVIL, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "referer": f"{EVIL}/page"}


class SecretSearcher:
    """Answers every search with the secret, and remembers that it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def search(self, _tenant: str, request: search_pb2.SearchRequest) -> search_pb2.SearchResponse:
        self.asked += 1
        return search_pb2.SearchResponse(query=request.query, results=[search_pb2.SearchHit(content=SECRET)])

    async def explain(self, _tenant: str, _request: search_pb2.ExplainRequest) -> search_pb2.ExplainResponse:
        self.asked += 1
        return search_pb2.ExplainResponse()


class Victim:
    """A server on loopback that holds one secret document."""

    def __init__(self, catalogue: Any) -> None:
        self.clock, self.ids, self.metrics = ManualClock(), SequentialIds(), Metrics()
        self.catalogue, self.blobs, self.searcher = catalogue, MemoryBlobStore(), SecretSearcher()
        self.log = MemoryLog(clock=self.clock, ids=self.ids)
        ports = GatewayPorts(
            catalogue=catalogue,
            blobs=self.blobs,
            vectors=MemoryVectorIndex(),
            graph=MemoryGraphStore(),
            log=self.log,
            searcher=self.searcher,
            clock=self.clock,
            ids=self.ids,
            metrics=self.metrics,
            inputs={},
        )
        self.application = build_application(GatewaySettings(), AuthSettings(api_token=""), ports, probes={})
        self.document = ""

    def browser(self, *, host: str = "127.0.0.1:8080") -> httpx.AsyncClient:
        """What a page can send: it cannot choose `Host`, `Origin` or `Sec-Fetch-*`; the tests set them as the browser would."""
        app = build_http(self.application, metrics=self.metrics, ids=self.ids, is_loopback=True)
        return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8080", headers={"host": host})

    async def state(self) -> Any:
        """All that a call could have changed."""
        stats = await self.application.stats(WHO)
        found = await self.application.get_document(WHO, self.document)
        records = {topic: len(self.log.records(topic)) for topic in topics.ALL}
        return stats.SerializeToString(deterministic=True), found.revision, found.status, records, await self.blobs.documents("default")


@pytest.fixture
async def victim(tmp_path: Path) -> AsyncIterator[Victim]:
    async with open_memory_catalogue(tmp_path) as catalogue:
        made = Victim(catalogue)
        async with made.browser() as local:
            made.document = (await local.post("/v1/documents", json=DOCUMENT)).json()["id"]
        yield made


def writes(document: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Calls that change something, in every form that a page can give them."""
    text = b'{"content": "planted", "container": "private"}'
    return {
        "urlencoded form": ("POST", "/v1/documents", {"data": {"content": "planted", "container": "private"}}),
        "text/plain form with JSON inside": ("POST", "/v1/documents", {"content": text + b"=", "headers": {"content-type": "text/plain"}}),
        "text/plain fetch with JSON inside": (
            "POST", "/v1/documents", {"content": text, "headers": {"content-type": "text/plain;charset=UTF-8"}}
        ),
        "fetch without a type": ("POST", "/v1/documents", {"content": text}),
        "JSON after a preflight that was not granted": ("POST", "/v1/documents", {"json": {"content": "planted", "container": "private"}}),
        "multipart form": (
            "POST", "/v1/documents/upload", {"files": {"file": ("a.txt", b"planted")}, "data": {"container": "private"}}
        ),
        "multipart form to the JSON route": ("POST", "/v1/documents", {"files": {"file": ("a.txt", b"planted")}}),
        "cancel without a body": ("POST", f"/v1/documents/{document}/cancel", {}),
        "cancel as a form": ("POST", f"/v1/documents/{document}/cancel", {"data": {"x": "y"}}),
        "replay without a body": ("POST", "/v1/dead-letters/replay", {}),
        "delete a document": ("DELETE", f"/v1/documents/{document}", {}),
        "delete a container": ("DELETE", "/v1/containers/private?confirm=true", {}),
        "method in a field": ("POST", f"/v1/documents/{document}", {"data": {"_method": "DELETE"}}),
        "method in a header": ("POST", f"/v1/documents/{document}", {"headers": {"x-http-method-override": "DELETE"}}),
    }  # fmt: skip


def reads(document: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Calls that answer with data."""
    return {
        "search": ("POST", "/v1/search", {"json": {"query": "vault"}}),
        "search as text": ("POST", "/v1/search", {"content": b'{"query": "vault"}', "headers": {"content-type": "text/plain"}}),
        "list": ("POST", "/v1/documents/list", {}),
        "document": ("GET", f"/v1/documents/{document}", {}),
        "text": ("GET", f"/v1/documents/{document}/text", {}),
        "events": ("GET", f"/v1/documents/{document}/events", {}),
        "containers": ("GET", "/v1/containers", {}),
        "profile": ("GET", "/v1/profile/private", {}),
        "stats": ("GET", "/v1/stats", {}),
        "metrics": ("GET", "/metrics", {}),
        "schema": ("GET", "/openapi.json", {}),
    }


PAGES = {
    "another site": CROSS_SITE,
    "an old browser": {"origin": EVIL},
    "no Origin": {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    "no Origin, capital letters": {"sec-fetch-site": "Cross-Site"},
    "a sandboxed frame": {"origin": "null", "sec-fetch-site": "cross-site"},
    "a file": {"origin": "null"},
    "an extension": {"origin": "chrome-extension://abcdefgh"},
    "a look-alike": {"origin": "http://127.0.0.1.evil.example:8080"},
    "a look-alike of localhost": {"origin": "http://localhost.evil.example"},
    "a name before the at sign": {"origin": "http://127.0.0.1:8080@evil.example"},
    "a name below localhost": {"origin": "http://evil.localhost"},
    "another scheme": {"origin": "ftp://127.0.0.1"},
}
REBOUND = [
    "evil.example:8080", "evil.example", "127.0.0.1.evil.example", "127.0.0.1.evil.example:8080", "localhost.evil.example",
    "evil.localhost", "2130706433", "2130706433:8080", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "127.1", "127.0.1",
    "0", "0.0.0.0:8080", "[::]", "[::ffff:127.0.0.1]:8080", "127.0.0.1@evil.example", "evil.example#127.0.0.1",
    "127.0.0.1:8080, evil.example", "127.0.0.1 evil.example", "127.0.0.1/evil.example", "\uff11\uff12\uff17.0.0.1", "",
]  # fmt: skip


async def answers(victim: Victim, call: tuple[str, str, dict[str, Any]], headers: dict[str, str], *, host: str = "127.0.0.1:8080") -> Any:
    method, path, named = call
    sent = {**headers, **named.pop("headers", {})}
    async with victim.browser(host=host) as browser:
        return await browser.request(method, path, headers=sent, **named)


def assert_refused(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden_origin")
    assert SECRET not in answer.text
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("page", PAGES)
async def test_a_page_of_another_site_changes_nothing(victim: Victim, page: str) -> None:
    before = await victim.state()
    for call in writes(victim.document).values():
        assert_refused(await answers(victim, call, PAGES[page]))
        assert await victim.state() == before, call


@pytest.mark.parametrize("page", PAGES)
async def test_a_page_of_another_site_reads_nothing(victim: Victim, page: str) -> None:
    for call in reads(victim.document).values():
        assert_refused(await answers(victim, call, PAGES[page]))
    assert victim.searcher.asked == 0


@pytest.mark.parametrize("host", REBOUND)
async def test_a_name_that_was_rebound_to_loopback_reads_and_changes_nothing(victim: Victim, host: str) -> None:
    """The page is same-origin with the rebound name, so the browser neither asks nor tells `cross-site`."""
    before = await victim.state()
    same = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    for call in (*writes(victim.document).values(), *reads(victim.document).values()):
        assert_refused(await answers(victim, call, same, host=host.encode()))  # type: ignore[arg-type]  # a header as bytes
    assert await victim.state() == before
    assert victim.searcher.asked == 0


@pytest.mark.parametrize(
    "call",
    [
        "urlencoded form",
        "text/plain form with JSON inside",
        "text/plain fetch with JSON inside",
        "fetch without a type",
        "multipart form to the JSON route",
        "cancel as a form",
    ],
)
async def test_what_needs_no_preflight_is_no_json(victim: Victim, call: str) -> None:
    """Even a browser that sends neither `Origin` nor `Sec-Fetch-Site` cannot reach a JSON route with what it sends unasked."""
    before = await victim.state()
    answer = await answers(victim, writes(victim.document)[call], {})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_content_type")
    assert await victim.state() == before


@pytest.mark.parametrize("origin", [EVIL, "null", "http://127.0.0.1:3000", "http://localhost:8080"])
@pytest.mark.parametrize("path", ["/v1/documents", "/v1/search", "/v1/documents/upload", "/v1/containers/private", "/health"])
async def test_no_preflight_is_granted(victim: Victim, path: str, origin: str) -> None:
    asked = {"origin": origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type,authorization"}
    private = {"access-control-request-private-network": "true"}
    async with victim.browser() as browser:
        answer = await browser.options(path, headers={**asked, **private})
    assert answer.status_code in {403, 405}
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "localhost", "LOCALHOST.", "[::1]:8080", "127.0.0.1"])
async def test_the_user_is_served(victim: Victim, host: str) -> None:
    """Programs send no `Origin`; a page that this server gave out is same-origin; a typed address is nobody's."""
    for headers in ({}, {"origin": f"http://{host}", "sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
        answer = await answers(victim, reads("")["search"], headers, host=host)
        assert answer.status_code == 200
        assert SECRET in answer.text


async def test_an_allowed_page_may_read_and_no_other(victim: Victim) -> None:
    page = "https://app.example"
    app = build_http(victim.application, metrics=victim.metrics, ids=victim.ids, is_loopback=True, origins=[page])
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8080") as browser:
        granted = await browser.options("/v1/search", headers={"origin": page, "sec-fetch-site": "cross-site", **asked})
        assert (granted.status_code, granted.headers["access-control-allow-origin"]) == (200, page)
        answer = await browser.post("/v1/search", json={"query": "x"}, headers={"origin": page, "sec-fetch-site": "cross-site"})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, page)
        refused = await browser.options("/v1/search", headers={"origin": EVIL, **asked})
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers


async def test_only_hosts_that_were_allowed_are_served_beside_loopback(victim: Victim) -> None:
    app = build_http(
        victim.application, metrics=victim.metrics, ids=victim.ids, is_loopback=True, hosts=["eunoe.example:8443"], origins=["app.example"]
    )
    expected = {
        ("eunoe.example:8443", ""): 200,
        ("eunoe.example:8443", "https://eunoe.example:8443"): 200,
        ("eunoe.example:8443", "https://app.example"): 200,
        ("eunoe.example:8443", EVIL): 403,
        ("eunoe.example:8443", "https://app.example.evil.example"): 403,
        ("eunoe.example", ""): 403,
        ("app.example", ""): 403,
        ("sub.eunoe.example:8443", ""): 403,
    }
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1") as client:
        for (host, origin), status in expected.items():
            answer = await client.get("/v1/stats", headers={"host": host, **({"origin": origin} if origin else {})})
            assert answer.status_code == status, (host, origin)


async def test_refusals_are_counted(victim: Victim) -> None:
    await answers(victim, reads("")["search"], CROSS_SITE)
    labels = {"method": "POST unmatched", "code": "403"}
    assert victim.metrics.registry.get_sample_value("eunoe_gateway_requests_total", labels) == 1
