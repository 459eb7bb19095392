"""Names of objects. Two trees, so that one lifecycle rule on `staging/` can expire what was never promoted.

    <prefix>blobs/<tenant>/<document>/<generation>/<name>
    <prefix>staging/<tenant>/<upload id>          and beside it <upload id>~sha256, the checksum of an upload in several parts

All keys of a tree have the same depth: servers that keep objects as files let no key be the folder of another.
"""

from __future__ import annotations

from uuid import UUID

from eunoe_stores.blobs.names import checked_key, checked_tenant, checked_upload
from eunoe_stores.blobs.port import BlobKey

DIGEST = "~sha256"
"""No upload id ends so: `~` is not among its letters."""


class Keys:
    """The names below one prefix."""

    def __init__(self, prefix: str) -> None:
        self.blobs = f"{prefix}blobs/"
        self.staging = f"{prefix}staging/"

    def blob(self, tenant: str, key: BlobKey) -> str:
        """Raises `InvalidField`."""
        checked_key(key)
        return f"{self.of_document(tenant, key.document)}{key.generation}/{key.name}"

    def of_tenant(self, tenant: str) -> str:
        """What its blobs begin with."""
        return f"{self.blobs}{checked_tenant(tenant)}/"

    def of_document(self, tenant: str, document: UUID) -> str:
        """What its blobs begin with."""
        return f"{self.of_tenant(tenant)}{document}/"

    def staged(self, tenant: str, upload_id: str) -> str:
        """Raises `InvalidField`."""
        return f"{self.staging}{checked_tenant(tenant)}/{checked_upload(upload_id)}"

    def digest(self, tenant: str, upload_id: str) -> str:
        """Where the checksum of an upload in several parts is kept."""
        return self.staged(tenant, upload_id) + DIGEST

    def generation(self, key: str) -> tuple[UUID, int]:
        """Document and generation of the key of a blob."""
        _tenant, document, generation, _name = key.removeprefix(self.blobs).split("/")
        return UUID(document), int(generation)

    def tenant(self, key: str) -> str:
        """The tenant of any key or prefix."""
        return key.removeprefix(self.blobs).removeprefix(self.staging).split("/", 1)[0]
