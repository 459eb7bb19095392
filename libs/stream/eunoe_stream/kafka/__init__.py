"""The Log port on Apache Kafka, through FastStream and aiokafka, which are imported only here."""

from eunoe_stream.kafka.config import KafkaSettings
from eunoe_stream.kafka.log import KafkaLog, open_kafka_log
from eunoe_stream.kafka.quiet import RateLimit, limit_client_logs
from eunoe_stream.kafka.topics import Difference, Provisioned, provision
from eunoe_stream.kafka.watchdog import Watchdog

__all__ = [
    "Difference",
    "KafkaLog",
    "KafkaSettings",
    "Provisioned",
    "RateLimit",
    "Watchdog",
    "limit_client_logs",
    "open_kafka_log",
    "provision",
]
