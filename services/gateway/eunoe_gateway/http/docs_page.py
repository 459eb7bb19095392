"""`/docs`: the routes, from the OpenAPI schema, as one page that loads nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)
SECURITY = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} HTTP API</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
h2 {{ margin-top: 2.5rem; border-bottom: 1px solid; }}
h3 {{ margin: 2rem 0 0; font-size: 1rem; }}
h3 b {{ display: inline-block; min-width: 4.5rem; }}
table {{ border-collapse: collapse; margin: .5rem 0; }}
td, th {{ text-align: left; vertical-align: top; padding: .15rem 1rem .15rem 0; }}
</style>
</head>
<body>
<h1>{title} {version}</h1>
<p>{description} The same as a schema: <a href="/openapi.json">/openapi.json</a>. Send a token, where one is needed, as
<code>Authorization: Bearer TOKEN</code>. Errors are <code>{{"detail", "code", "request_id"}}</code>.</p>
{routes}
</body>
</html>
"""


@router.get("/docs", response_class=HTMLResponse)
async def docs(request: Request) -> HTMLResponse:
    """Every route with its parameters and fields."""
    return HTMLResponse(page_of(request.app.openapi()), headers=SECURITY)


def page_of(schema: Mapping[str, Any]) -> str:
    """The page of an OpenAPI schema."""
    info = schema["info"]
    return PAGE.format(
        title=escape(info["title"]),
        version=escape(info["version"]),
        description=escape(info.get("description", "")),
        routes="\n".join(_sections(schema["paths"])),
    )


def _sections(paths: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    by_tag: dict[str, list[str]] = {}
    for path, operations in paths.items():
        for method, operation in operations.items():
            by_tag.setdefault(operation.get("tags", ["other"])[0], []).append(_operation(method, path, operation))
    for tag, parts in by_tag.items():
        yield f"<h2>{escape(tag)}</h2>"
        yield from parts


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    rows = [*_parameters(operation), *_fields(operation)]
    cells = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    table = f"<table><tr><th>name</th><th>in</th><th>type</th><th></th></tr>{cells}</table>" if rows else ""
    return f"<h3><b>{escape(method.upper())}</b> <code>{escape(path)}</code></h3><p>{escape(operation.get('description', ''))}</p>{table}"


def _parameters(operation: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for each in operation.get("parameters", ()):
        yield each["name"], each["in"], _type(each["schema"]), _note(each["schema"], required=each.get("required", False))


def _fields(operation: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        schema = body["schema"]
        for name, field in schema.get("properties", {}).items():
            yield name, kind, _type(field), _note(field, required=name in schema.get("required", ()))


def _type(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    kind = str(schema.get("type", "any"))
    return f"list of {_type(schema['items'])}" if kind == "array" and "items" in schema else kind


def _note(schema: Mapping[str, Any], *, required: bool) -> str:
    default = schema.get("default")
    parts = ["required"] if required else [f"default {default}"] if default not in (None, "", [], {}) else []
    return "; ".join([*parts, *([schema["description"]] if schema.get("description") else [])])
