"""From the client library's errors to ours. Messages name the error's type only: the library's own text may carry keys or addresses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka import errors
from eunoe_contracts.errors import EunoeError, InternalError, PayloadTooLarge, StoreUnavailable

REFUSED = (
    errors.AuthenticationFailedError,
    errors.SaslAuthenticationFailed,
    errors.UnsupportedSaslMechanismError,
    errors.ClusterAuthorizationFailedError,
    errors.GroupAuthorizationFailedError,
    errors.TopicAuthorizationFailedError,
)
TOO_LARGE = (errors.MessageSizeTooLargeError, errors.RecordListTooLargeError)


def too_large() -> PayloadTooLarge:
    """A record that will never be taken."""
    return PayloadTooLarge("a record is larger than EUNOE_KAFKA__MAX_RECORD_BYTES, or than the broker allows")


def mapped(error: BaseException) -> EunoeError:
    """`StoreUnavailable` for what the broker or the way to it refuses, `PayloadTooLarge` for a record above the limit."""
    name = type(error).__name__
    named: EunoeError
    if isinstance(error, EunoeError):
        return error
    if isinstance(error, TOO_LARGE):
        named = too_large()
    elif isinstance(error, errors.UnknownTopicOrPartitionError):
        named = StoreUnavailable("a topic is missing; `eunoe admin provision` creates it")
    elif isinstance(error, REFUSED):
        named = StoreUnavailable(f"Kafka refused access ({name})")
    elif isinstance(error, TimeoutError):
        named = StoreUnavailable("Kafka did not answer in time")
    elif isinstance(error, (errors.KafkaError, errors.ConsumerStoppedError, OSError)):
        named = StoreUnavailable(f"Kafka did not answer ({name})")
    else:
        named = InternalError(f"unexpected {name}")
    named.__cause__ = error
    return named


@contextmanager
def translated() -> Iterator[None]:
    """Errors of the block as ours."""
    try:
        yield
    except Exception as error:
        found = mapped(error)
        if found is error:
            raise
        raise found from error
