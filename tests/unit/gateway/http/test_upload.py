from __future__ import annotations

from typing import Any

import httpx
import pytest

BOUNDARY = "frontier"
FORM = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}
PATH = "/v1/documents/upload"


def field(name: str, value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + data + b"\r\n"


def file(data: bytes, *, filename: str = "note.md", kind: str = "application/octet-stream", name: str = "file") -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{filename}"\r\nContent-Type: {kind}\r\n\r\n'
    return head.encode() + data + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


WHERE = field("container", "team.files")
TEXT = b"# Tea\n\nAlice likes tea.\n"


async def test_a_file_is_accepted(client: httpx.AsyncClient) -> None:
    answer = await client.post(PATH, files={"file": ("tea.md", TEXT)}, data={"container": "team.files"})
    assert answer.status_code == 202
    body = answer.json()
    assert (body["container"], body["content_type"], body["status"]) == ("team.files", "markdown", "queued")
    found = (await client.get(f"/v1/documents/{body['id']}")).json()
    assert (found["name"], found["size_bytes"]) == ("tea.md", len(TEXT))


@pytest.mark.parametrize("first", [True, False])
async def test_fields_stand_before_or_after_the_file(client: httpx.AsyncClient, first: bool) -> None:
    fields = [
        WHERE,
        field("metadata", '{"author": "Åsa", "year": 1999}'),
        field("tags", "a"),
        field("tags", "b"),
        field("custom_id", "notes/tea.md"),
        field("event_time", "2026-01-31T12:00:00+01:00"),
        field("name", "tea.md"),
    ]
    parts = [*fields, file(TEXT)] if first else [file(TEXT), *fields]
    answer = await client.post(PATH, content=form(*parts), headers=FORM)
    assert answer.status_code == 202
    found = (await client.get(f"/v1/documents/{answer.json()['id']}")).json()
    assert found["metadata"] == {"author": "Åsa", "year": 1999}
    assert (found["tags"], found["custom_id"], found["name"]) == (["a", "b"], "notes/tea.md", "tea.md")
    assert found["event_time"] == "2026-01-31T11:00:00Z"


async def test_unknown_fields_and_parameters_are_named(client: httpx.AsyncClient) -> None:
    answer = await client.post(f"{PATH}?x=1", content=form(WHERE, field("colour", "red"), file(TEXT), field("size", "9")), headers=FORM)
    assert answer.status_code == 202
    assert answer.json()["warnings"] == [f"unknown field '{name}' was ignored" for name in ("colour", "size", "x")]


async def test_names_are_read_as_browsers_write_them(client: httpx.AsyncClient) -> None:
    answer = await client.post(PATH, content=form(WHERE, file(TEXT, filename="a %22quoted%22 größe.md")), headers=FORM)
    assert (await client.get(f"/v1/documents/{answer.json()['id']}")).json()["name"] == 'a "quoted" größe.md'


async def test_a_path_as_a_name_is_only_a_name(client: httpx.AsyncClient) -> None:
    answer = await client.post(PATH, content=form(WHERE, file(TEXT, filename="../../etc/passwd.md")), headers=FORM)
    assert answer.status_code == 202
    assert (await client.get(f"/v1/documents/{answer.json()['id']}")).json()["name"] == "../../etc/passwd.md"


async def test_three_equal_uploads_are_one_document(client: httpx.AsyncClient, door: Any) -> None:
    answers = [(await client.post(PATH, content=form(WHERE, file(TEXT)), headers=FORM)).json() for _ in range(3)]
    assert len({each["id"] for each in answers}) == 1
    assert len(await door.world.blobs.documents("default")) == 1


BAD = {
    "no body": (b"", 400, "invalid_request"),
    "no file": (form(WHERE), 422, "invalid_field"),
    "no parts": (form(), 422, "invalid_field"),
    "no container": (form(file(TEXT)), 422, "invalid_field"),
    "empty container": (form(field("container", ""), file(TEXT)), 422, "invalid_field"),
    "bad container": (form(field("container", "a..b"), file(TEXT)), 422, "invalid_field"),
    "late bad container": (form(file(TEXT), field("container", "a\0b")), 422, "invalid_field"),
    "empty file": (form(WHERE, file(b"")), 400, "empty_file"),
    "file as a field": (form(WHERE, field("file", "text")), 422, "invalid_field"),
    "other part name": (form(WHERE, file(TEXT, name="document")), 422, "invalid_field"),
    "two files": (form(WHERE, file(TEXT), file(TEXT)), 422, "invalid_field"),
    "field twice": (form(WHERE, field("container", "other"), file(TEXT)), 422, "invalid_field"),
    "late field twice": (form(WHERE, file(TEXT), field("container", "other")), 422, "invalid_field"),
    "metadata broken": (form(WHERE, field("metadata", "{"), file(TEXT)), 422, "invalid_field"),
    "metadata array": (form(WHERE, field("metadata", "[]"), file(TEXT)), 422, "invalid_field"),
    "metadata NaN": (form(WHERE, file(TEXT), field("metadata", '{"a": NaN}')), 422, "invalid_field"),
    "metadata surrogate": (form(WHERE, field("metadata", '{"a": "\\ud800"}'), file(TEXT)), 422, "invalid_field"),
    "metadata deep": (form(WHERE, field("metadata", '{"a":' * 5000 + "1" + "}" * 5000), file(TEXT)), 422, "invalid_field"),
    "event time": (form(WHERE, field("event_time", "soon"), file(TEXT)), 422, "invalid_field"),
    "event time of year 0": (form(WHERE, field("event_time", "0001-01-01T00:00:00+10:00"), file(TEXT)), 422, "invalid_field"),
    "field not utf-8": (form(field("container", b"\xff\xfe"), file(TEXT)), 400, "invalid_encoding"),
    "name not utf-8": (form(WHERE, file(TEXT).replace(b"note.md", b"\xff.md")), 400, "invalid_encoding"),
    "control character in the name": (form(WHERE, file(TEXT, filename="a%0Db.md")), 422, "invalid_field"),
    "part without a name": (form(WHERE, file(TEXT).replace(b' name="file";', b"")), 400, "invalid_request"),
    "unknown type": (form(WHERE, file(b"\x7fELF\x02\x01\x01" + b"\0" * 100, filename="a.bin")), 415, "unsupported_format"),
    "unfinished": (form(WHERE, file(TEXT))[:-6], 400, "invalid_request"),
    "unfinished file": (WHERE + file(TEXT)[:-2], 400, "invalid_request"),
    "no boundary in the body": (b"hello", 400, "invalid_request"),
    "broken header": (f"--{BOUNDARY}\r\nno colon\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode(), 400, "invalid_request"),
    "long header": (f"--{BOUNDARY}\r\nA: {'x' * 20_000}\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode(), 400, "invalid_request"),
    "large field": (form(WHERE, field("note", "x" * 1_100_000), file(TEXT)), 413, "payload_too_large"),
    "large fields": (form(*(field(f"f{number}", "x" * 300_000) for number in range(4)), WHERE, file(TEXT)), 413, "payload_too_large"),
    "many fields": (form(*(field("tags", "x") for _ in range(250)), WHERE, file(TEXT)), 413, "payload_too_large"),
    "too many tags": (form(*(field("tags", f"t{number}") for number in range(100)), WHERE, file(TEXT)), 422, "invalid_field"),
    "large file": (form(WHERE, file(b"x" * 1_000_001)), 413, "payload_too_large"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_form_is_named_and_leaves_nothing(client: httpx.AsyncClient, door: Any, name: str) -> None:
    body, status, code = BAD[name]
    answer = await client.post(PATH, content=body, headers=FORM)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.json()
    assert answer.json().keys() == {"detail", "code", "request_id"}
    assert await door.untouched()


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "application/json",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/mixed; boundary=frontier",
        "application/x-www-form-urlencoded",
    ],
)
async def test_other_kinds_of_bodies_are_refused(client: httpx.AsyncClient, door: Any, kind: str) -> None:
    answer = await client.post(PATH, content=form(WHERE, file(TEXT)), headers={"content-type": kind} if kind else {})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_content_type")
    assert await door.untouched()


async def test_a_boundary_that_is_too_long_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.post(PATH, content=b"x", headers={"content-type": f"multipart/form-data; boundary={'b' * 5000}"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")


async def test_a_full_queue_is_told_before_the_file_is_read(client: httpx.AsyncClient, door: Any) -> None:
    for number in range(door.world.settings.queue_limit):
        await client.post("/v1/documents", json={"content": f"Text {number}.", "container": "c"})

    async def body() -> Any:
        yield WHERE + file(b"x")[:-2]
        raise AssertionError("more of the body was read")

    answer = await client.post(PATH, content=body(), headers=FORM)
    assert (answer.status_code, answer.json()["code"]) == (429, "queue_full")
    assert int(answer.headers["retry-after"]) >= 1


async def test_a_full_disk_refuses_new_work_and_search_goes_on(client: httpx.AsyncClient, door: Any) -> None:
    door.world.has_space = False
    for answer in (
        await client.post(PATH, content=form(WHERE, file(TEXT)), headers=FORM),
        await client.post("/v1/documents", json={"content": "x", "container": "c"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")
    assert (await client.post("/v1/search", json={"query": "tea"})).status_code == 200
    assert await door.untouched()
