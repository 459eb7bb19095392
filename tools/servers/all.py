"""The servers by name, in the order in which they are started."""

from __future__ import annotations

from collections.abc import Mapping

from servers.kafka import Kafka
from servers.server import Server

SERVERS: Mapping[str, type[Server]] = {Kafka.name: Kafka}
