from __future__ import annotations

from typing import Any

import httpx
import pytest
from eunoe_contracts.errors import EunoeError, QueueFull, error_types
from structlog.testing import capture_logs

SHAPE = {"detail", "code", "request_id"}
SECRET = "the text of a document"


def breaking(door: Any, error: BaseException) -> None:
    """Let every call of `stats` raise."""

    async def stats(_who: Any) -> Any:
        raise error

    door.application.stats = stats


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1", 404, "not_found"),
        ("GET", "/v1/nothing", 404, "not_found"),
        ("POST", "/v2/documents", 404, "not_found"),
        ("GET", "/redoc", 404, "not_found"),
        ("GET", "/docs/oauth2-redirect", 404, "not_found"),
        ("GET", "/%00", 404, "not_found"),
        ("GET", "/%ff%fe", 404, "not_found"),
        ("GET", "/static/../../etc/passwd", 404, "not_found"),
        ("GET", "/" + "x" * 20_000, 404, "not_found"),
        ("PUT", "/v1/documents", 405, "method_not_allowed"),
        ("GET", "/v1/search", 405, "method_not_allowed"),
        ("DELETE", "/health", 405, "method_not_allowed"),
        ("BREW", "/v1/search", 405, "method_not_allowed"),
        ("TRACE", "/health", 405, "method_not_allowed"),
        ("OPTIONS", "/v1/search", 405, "method_not_allowed"),
        ("GET", "/v1/containers?limit=none", 422, "invalid_field"),
        ("GET", "/v1/containers?limit=0", 422, "invalid_field"),
        ("GET", "/v1/containers?offset=4294967296", 422, "invalid_field"),
        ("GET", "/v1/containers?colour=red", 422, "unknown_field"),
        ("GET", "/v1/stats?x", 422, "unknown_field"),
        ("GET", "/v1/dead-letters?document=1", 422, "unknown_field"),
        ("GET", "/v1/dead-letters?since=yesterday", 422, "invalid_field"),
        ("GET", "/v1/dead-letters?since=0001-01-01T00:00:00%2B10:00", 422, "invalid_field"),
        ("GET", "/v1/profile/c?fact_limit=-1", 422, "invalid_field"),
        ("GET", "/v1/profile/a..b", 422, "invalid_field"),
        ("GET", "/v1/memories/7", 422, "invalid_field"),
        ("GET", "/v1/memories/%00", 422, "invalid_field"),
        ("DELETE", "/v1/containers/c", 400, "confirmation_required"),
        ("DELETE", "/v1/containers/c?confirm=true", 404, "container_not_found"),
        ("DELETE", "/v1/containers/c?confim=true", 422, "unknown_field"),
    ],
)
async def test_every_refusal_has_the_same_shape(client: httpx.AsyncClient, method: str, path: str, status: int, code: str) -> None:
    answer = await client.request(method, path)
    assert answer.status_code == status
    assert answer.json().keys() == SHAPE
    assert answer.json()["code"] == code
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    assert len(answer.content) < 1000


async def test_a_wrong_method_names_the_right_ones(client: httpx.AsyncClient) -> None:
    assert (await client.put("/v1/documents")).headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/", "/health", "/live", "/ready", "/metrics"])
async def test_probes_may_use_head(door: Any, path: str) -> None:
    async with door.listening() as url, httpx.AsyncClient(base_url=url) as client:
        answer = await client.head(path)
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("error", [ValueError(SECRET), KeyError(SECRET), RecursionError(SECRET), UnicodeError(SECRET)])
async def test_an_unexpected_error_shows_nothing(door: Any, client: httpx.AsyncClient, error: Exception) -> None:
    breaking(door, error)
    with capture_logs() as logs:
        answer = await client.get("/v1/stats")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert answer.json().keys() == SHAPE
    assert SECRET not in answer.text
    assert SECRET not in str(logs)
    assert [each["event"] for each in logs] == ["unexpected_failure"]
    assert logs[0]["request_id"] == answer.json()["request_id"]
    assert logs[0]["error"] == type(error).__name__
    assert "test_errors.py" in logs[0]["stack"]


async def test_unexpected_errors_are_counted(door: Any, client: httpx.AsyncClient) -> None:
    breaking(door, ValueError())
    await client.get("/v1/stats")
    labels = {"method": "GET /v1/stats", "code": "500"}
    assert door.world.metrics.registry.get_sample_value("eunoe_gateway_requests_total", labels) == 1


@pytest.mark.parametrize("error", list(error_types()), ids=lambda each: each.code)
async def test_every_error_of_ours_has_its_status_and_code(door: Any, client: httpx.AsyncClient, error: type[EunoeError]) -> None:
    breaking(door, error())
    answer = await client.get("/v1/stats")
    assert answer.status_code == error.http_status
    assert answer.json().keys() == SHAPE
    assert answer.json()["code"] == error.code


@pytest.mark.parametrize(("delay", "told"), [(0.1, "1"), (1.0, "1"), (1.2, "2"), (30.0, "30")])
async def test_retry_after_is_never_too_early(door: Any, client: httpx.AsyncClient, delay: float, told: str) -> None:
    breaking(door, QueueFull(retry_after_s=delay))
    answer = await client.get("/v1/stats")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, told)


@pytest.mark.parametrize(("given", "kept"), [("abc-1.2_3", True), ("", False), ("a b", False), ("x" * 65, False), ("a\r", False)])
async def test_a_callers_request_id_is_kept_when_it_is_one(client: httpx.AsyncClient, given: str, kept: bool) -> None:
    answer = await client.get("/nothing", headers={"x-request-id": given.encode()} if given else {})
    assert (answer.json()["request_id"] == given) is kept
    assert answer.json()["request_id"]


async def test_metrics_do_not_grow_with_what_callers_invent(door: Any, client: httpx.AsyncClient) -> None:
    for number in range(20):
        await client.request(f"METHOD{number}", f"/path-{number}")
        await client.request(f"METHOD{number}", "/health")
        await client.get(f"/v1/documents/{number}")
    text = (await client.get("/metrics")).text
    counted = {line for line in text.splitlines() if line.startswith("eunoe_gateway_requests_total")}
    assert len(counted) == 3
    assert any('method="GET /v1/documents/{document_id}"' in line for line in counted)


async def test_every_answer_is_private_and_is_what_it_says(client: httpx.AsyncClient) -> None:
    for path in ("/health", "/nothing", "/v1/stats", "/docs", "/openapi.json", "/metrics"):
        headers = (await client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
