"""The S3 client on a pool of connections of our own: the client's default waits up to half an hour for a server that went silent."""

from __future__ import annotations

from typing import Any

from minio import Minio
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager, Retry, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection

from eunoe_stores.blobs.s3.config import S3Settings

SENT_AT_ONCE = 64 * 1024
BACKOFF_S = 0.2
WORTH_A_RETRY = (500, 502, 503, 504)


class _PiecewiseMixin:
    """urllib3 sends a body with one `sendall`, for all of which the time-out of *connecting* holds: 8 MiB in 3 seconds, or never. In
    pieces it holds for each of them.
    """

    def send(self, data: Any) -> None:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            super().send(data)  # type: ignore[misc]  # of the class that this is mixed into
            return
        view = memoryview(data)
        for start in range(0, max(len(view), 1), SENT_AT_ONCE):
            super().send(view[start : start + SENT_AT_ONCE])  # type: ignore[misc]


class _PlainConnection(_PiecewiseMixin, HTTPConnection):
    pass


class _TlsConnection(_PiecewiseMixin, HTTPSConnection):
    pass


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _PlainConnection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


def make_client(settings: S3Settings) -> Minio:
    """A client that gives a request up within seconds; it has not connected yet. Raises ValueError for an endpoint that is none."""
    pool = PoolManager(
        num_pools=4,
        maxsize=settings.pool_size,
        block=True,
        timeout=Timeout(connect=settings.connect_timeout_s, read=settings.read_timeout_s),
        retries=Retry(total=settings.retries, backoff_factor=BACKOFF_S, status_forcelist=WORTH_A_RETRY),
        cert_reqs="CERT_REQUIRED",
        ca_certs=str(settings.tls_ca) if settings.tls_ca else None,
    )
    pool.pool_classes_by_scheme = {"http": _PlainPool, "https": _TlsPool}
    client = Minio(
        settings.endpoint,
        access_key=settings.access_key.get_secret_value(),
        secret_key=settings.secret_key.get_secret_value(),
        secure=settings.tls,
        region=settings.region,
        http_client=pool,
    )
    if settings.path_style:
        client.disable_virtual_style_endpoint()  # type: ignore[no-untyped-call]
    else:
        client.enable_virtual_style_endpoint()  # type: ignore[no-untyped-call]
    return client
