from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import httpx
from eunoe_gateway.http.docs_page import page_of


class Outside(HTMLParser):
    """Everything that a page loads or runs."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "link", "img", "iframe", "object", "embed", "audio", "video", "source", "base", "form"}:
            self.found.append(tag)
        for name, value in attrs:
            if name in {"src", "srcset", "action", "data", "style"} or name.startswith("on"):
                self.found.append(f"{name}={value}")
            if name == "href" and not (value or "").startswith("/"):
                self.found.append(f"href={value}")


async def test_the_page_loads_nothing(client: httpx.AsyncClient) -> None:
    answer = await client.get("/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "script-src" not in answer.headers["content-security-policy"]
    reader = Outside()
    reader.feed(answer.text)
    assert reader.found == []
    assert not re.search(r"https?://|@import|url\(", answer.text)


async def test_the_page_lists_every_route(client: httpx.AsyncClient, door: Any) -> None:
    page = (await client.get("/docs")).text
    schema = (await client.get("/openapi.json")).json()
    assert schema == door.app().openapi()
    for path, operations in schema["paths"].items():
        for method in operations:
            assert f"<b>{method.upper()}</b> <code>{path}</code>" in page
    for name in ("idempotency-key", "custom_id", "containers", "fact_limit", "include_related"):
        assert f"<td>{name}</td>" in page


async def test_the_schema_describes_bodies_and_our_errors(client: httpx.AsyncClient) -> None:
    schema = (await client.get("/openapi.json")).json()
    create = schema["paths"]["/v1/documents"]["post"]
    fields = create["requestBody"]["content"]["application/json"]["schema"]
    assert set(fields["required"]) == {"content", "container"}
    assert create["responses"]["default"]["content"]["application/json"]["schema"]["required"] == ["detail", "code", "request_id"]
    assert "422" not in create["responses"]
    assert "HTTPValidationError" not in str(schema)


def test_what_stands_in_a_schema_is_text_on_the_page() -> None:
    evil = "<evil onload='x'>&"
    parameter = {"name": evil, "in": evil, "schema": {"type": evil, "description": evil, "default": evil}}
    operation = {"tags": [evil], "description": evil, "parameters": [parameter]}
    page = page_of({"info": {"title": evil, "version": evil, "description": evil}, "paths": {evil: {evil: operation}}})
    assert "<evil" not in page.lower()
    assert "'x'" not in page
    assert page.lower().count("&lt;evil onload=&#x27;x&#x27;&gt;&amp;") == 13
