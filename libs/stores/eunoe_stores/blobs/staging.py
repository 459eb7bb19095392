"""One upload on its way into the staging area: hashed while it is written, invisible until it is whole."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from uuid import uuid4

from eunoe_contracts.errors import PayloadTooLarge

from eunoe_stores.blobs.port import StagedBlob

HEAD_BYTES = 64 * 1024
BUFFER_BYTES = 1024 * 1024
"""What is collected before it is written: fewer hops to a thread for small chunks."""
PARTIAL = ".partial"


class Upload:
    """Writes `<name>-<random>.partial` beside its target. Blocking methods.

    The lock is for a cancelled caller, whose thread still writes while `abandon` is called.
    """

    def __init__(self, target: Path, *, limit: int) -> None:
        self._target = target
        self._temporary = target.with_name(f"{target.name}-{uuid4().hex}{PARTIAL}")
        self._limit = limit
        self._lock = threading.Lock()
        self._hash = hashlib.sha256()
        self._size = 0
        self._head = b""
        self._file = self._temporary.open("xb", buffering=0)

    def write(self, data: bytes) -> None:
        """Append. Raises `PayloadTooLarge` before a byte past the limit is written."""
        if self._size + len(data) > self._limit:
            raise PayloadTooLarge
        with self._lock:
            if len(self._head) < HEAD_BYTES:
                self._head += data[: HEAD_BYTES - len(self._head)]
            self._hash.update(data)
            self._size += len(data)
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]

    def finish(self, upload_id: str) -> StagedBlob:
        """Give it its own name. Bytes and name become durable with `promote`; until then nobody was promised them."""
        with self._lock:
            self._file.close()
            self._temporary.replace(self._target)
        return StagedBlob(upload_id, self._size, self._hash.hexdigest(), self._head)

    def abandon(self) -> None:
        """Leave nothing. May follow `finish`, and then does nothing."""
        with self._lock:
            self._file.close()
            self._temporary.unlink(missing_ok=True)
