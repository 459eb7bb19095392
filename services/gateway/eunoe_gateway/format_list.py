"""Which formats are accepted now, as every extractor at work says, and what the others lack."""

from __future__ import annotations

from eunoe.v1 import ingest_pb2
from eunoe_contracts.capabilities import EXTRACTOR, of_all
from eunoe_contracts.formats import FORMATS, Format
from eunoe_contracts.tenancy import Principal, Scope
from eunoe_stores.catalogue.port import CapabilityCatalogue

from eunoe_gateway.access import require_any


class FormatList:
    """The call `list_formats`."""

    def __init__(self, catalogue: CapabilityCatalogue) -> None:
        self._catalogue = catalogue

    async def list(self, who: Principal) -> ingest_pb2.ListFormatsResponse:
        """All formats, in the order of their table."""
        require_any(who, Scope.INGEST, Scope.SEARCH)
        read = of_all(await self._catalogue.capabilities(EXTRACTOR))
        return ingest_pb2.ListFormatsResponse(formats=[_told(each, read) for each in FORMATS])


def _told(each: Format, read: frozenset[str] | None) -> ingest_pb2.Format:
    is_read = read is not None and each.id in read
    return ingest_pb2.Format(
        id=each.id,
        title=each.title,
        extensions=each.extensions,
        media_types=each.media_types,
        available=is_read or read is None,
        reason="" if is_read else _why(each, read),
    )


def _why(each: Format, read: frozenset[str] | None) -> str:
    if read is None:
        return "no extractor has started yet; what is sent waits for the first one"
    needed = f" ({', '.join(each.needs)})" if each.needs else ""
    return f"not every extractor at work reads it: install its libraries there{needed}, or look at EUNOE_EXTRACTOR__FORMATS"
