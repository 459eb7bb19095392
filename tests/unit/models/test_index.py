"""Which index is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from eunoe_contracts.errors import ModelMissing
from eunoe_models.artifacts.http import Http
from eunoe_models.artifacts.index import PUBLIC_INDEX, file_url, index_url, project_url, shown
from eunoe_models.artifacts.pip_settings import pip_value


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    (home / ".config" / "pip").mkdir(parents=True)
    (home / ".pip").mkdir()
    (home / ".pip" / "pip.conf").write_text("[global]\nindex-url = https://older.example/simple\n")
    (home / ".config" / "pip" / "pip.conf").write_text("[global]\nindex_url = https://user.example/%20simple\ncert = /c.pem\n")
    return {"HOME": str(home), "XDG_CONFIG_DIRS": str(tmp_path / "xdg")}


def test_the_order_of_settings(environment: dict[str, str], tmp_path: Path) -> None:
    own = tmp_path / "own.conf"
    own.write_text("[global]\nindex-url = https://file.example/simple/\n[download]\nindex-url = https://download.example/simple/\n")
    for change, expected in (
        ({}, "https://user.example/%20simple/"),
        ({"PIP_CONFIG_FILE": str(own)}, "https://download.example/simple/"),
        ({"UV_INDEX_URL": "https://uv2.example/simple"}, "https://uv2.example/simple/"),
        ({"UV_DEFAULT_INDEX": "named=https://uv1.example/simple"}, "https://uv1.example/simple/"),
        ({"PIP_INDEX_URL": "https://pip.example/simple"}, "https://pip.example/simple/"),
    ):
        environment |= change
        assert index_url("", environment) == expected
    assert index_url("https://ours.example/simple", environment) == "https://ours.example/simple/"
    environment = {"PIP_CONFIG_FILE": "/dev/null"}
    assert index_url("", environment) == PUBLIC_INDEX


def test_pip_files_that_cannot_be_read_say_nothing(environment: dict[str, str]) -> None:
    assert pip_value("cert", environment) == "/c.pem"
    assert pip_value("cert", environment | {"PIP_CERT": "/env.pem"}) == "/env.pem"
    Path(environment["HOME"], ".config", "pip", "pip.conf").write_text("no section")
    assert pip_value("index-url", environment) == "https://older.example/simple"


def test_a_certificate_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="PIP_CERT"):
        Http({"PIP_CERT": str(tmp_path / "none.pem")})


def test_addresses() -> None:
    assert project_url("https://a.example/simple/", "Some.Thing_x") == "https://a.example/simple/some-thing-x/"
    page = b'<html><body><a href="/f/x-1.whl#sha256=0" data-requires-python="&gt;=3">x-1.whl</a> <a href="y">\n x-2.whl </a></body></html>'
    base = "https://a.example/simple/x/"
    assert file_url(page, content_type="text/html; charset=utf-8", page_url=base, file="x-1.whl") == "https://a.example/f/x-1.whl"
    assert file_url(page, content_type="text/html", page_url=base, file="x-2.whl") == "https://a.example/simple/x/y"
    assert shown("https://me:secret@a.example:8443/simple/?token=1") == "https://a.example:8443/simple/"
