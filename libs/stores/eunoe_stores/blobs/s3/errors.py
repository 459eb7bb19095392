"""From errors of the S3 client and of the network to ours. Messages name S3's code only: its texts hold keys, which name tenants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from xml.etree.ElementTree import ParseError

from eunoe_contracts.errors import BlobNotFound, EunoeError, InternalError, PayloadTooLarge, StorageFull, StoreUnavailable
from minio.error import InvalidResponseError, MinioException, S3Error, ServerError
from urllib3.exceptions import HTTPError

ABSENT = frozenset({"NoSuchKey", "NoSuchVersion", "NotFound"})
REFUSED = frozenset(
    {
        *("AccessDenied", "AllAccessDisabled", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthorizationHeaderMalformed"),
        "XAdminUserNotFound",  # versitygw's word for an unknown key
    }
)
"""Nothing is wrong with the blob: somebody must change the settings or the rights. Until then it is an outage."""
_FULL = frozenset({"InsufficientStorage", "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"})
_TOO_LARGE = frozenset({"EntityTooLarge", "MaxMessageLengthExceeded"})
_WRONG = frozenset({"KeyTooLongError", "InvalidArgument", "InvalidRequest", "MethodNotAllowed", "NotImplemented", "EntityTooSmall"})
HTTP_FULL = 507


@contextmanager
def named_errors() -> Iterator[None]:
    """Errors of ours in place of the libraries', which are not attached."""
    try:
        yield
    except (MinioException, HTTPError, OSError) as error:
        raise mapped(error) from None
    except ParseError:
        raise StoreUnavailable("the blob store's answer could not be read") from None
    except ValueError as error:
        # The client's own checks of names and sizes.
        raise InternalError(f"the blob store's client refused a request ({type(error).__name__})") from None


def mapped(error: Exception) -> EunoeError:
    """Ours for one of theirs."""
    if isinstance(error, S3Error):
        return _of_s3(error)
    if isinstance(error, (InvalidResponseError, ServerError)) and _status(error) == HTTP_FULL:
        return StorageFull()
    return StoreUnavailable(f"the blob store did not answer ({type(error).__name__})")


def _of_s3(error: S3Error) -> EunoeError:
    code = error.code or "unknown"
    if code in ABSENT:
        return BlobNotFound()
    if code in _FULL or _status(error) == HTTP_FULL:
        return StorageFull()
    if code in _TOO_LARGE:
        return PayloadTooLarge()
    if code in _WRONG:
        return InternalError(f"the blob store refused a request ({code})")
    return StoreUnavailable(f"the blob store did not answer ({code})")


def _status(error: Exception) -> int:
    if isinstance(error, S3Error):
        return int(error.response.status)
    if isinstance(error, ServerError):
        return error.status_code
    return int(getattr(error, "_code", 0))  # InvalidResponseError shows it only in its text
