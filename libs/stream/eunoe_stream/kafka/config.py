"""Settings of the log on Kafka, section KAFKA."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from eunoe_contracts import topics
from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from eunoe_stream.kafka.limits import Limits

DYNAMIC_SESSION_S = 15.0
STATIC_SESSION_S = 45.0


class KafkaSettings(BaseSettings):
    """`EUNOE_KAFKA__*`. Refused when the limits contradict each other: see `limits.py`."""

    model_config = SettingsConfigDict(env_prefix="EUNOE_KAFKA__", env_file=".env", frozen=True, extra="ignore")

    bootstrap_servers: str = Field(default="127.0.0.1:9092", description="Addresses of some brokers, `host:port`, separated by commas.")
    topic_prefix: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9._-]{0,60}$",
        description="Begins the names of all topics and groups on a shared cluster.",
    )
    client_id: str = Field(default="eunoe", description="Begins the client ids that the brokers log.")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="PLAINTEXT", description="How to talk to the brokers; anything but PLAINTEXT outside a trusted network."
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(default="SCRAM-SHA-512", description="Login method.")
    sasl_username: str = Field(default="", description="With SASL: user.")
    sasl_password: SecretStr = Field(default=SecretStr(""), description="With SASL: password.")
    tls_ca_file: Path | None = Field(default=None, description="With SSL: certificates that sign the brokers'; none takes the system's.")
    tls_cert_file: Path | None = Field(default=None, description="With SSL: the client's certificate, where the brokers ask for one.")
    tls_key_file: Path | None = Field(default=None, description="With SSL: the key of that certificate.")
    tls_check_hostname: bool = Field(default=True, description="With SSL: the broker's certificate must name its host.")

    partitions: int = Field(
        default=topics.PARTITIONS, ge=1, le=1000, description="Partitions of a work topic; at least the replicas of its readers."
    )
    retry_partitions: int = Field(default=3, ge=1, le=1000, description="Partitions of a retry topic.")
    dead_partitions: int = Field(default=1, ge=1, le=1000, description="Partitions of a dead-letter topic.")
    replication: int = Field(default=3, ge=1, le=9, description="Copies of each partition; 1 only where there is one broker.")
    min_insync_replicas: int = Field(default=0, ge=0, le=9, description="Copies that must confirm a record; 0 takes one less than all.")
    retention_hours: float = Field(default=168.0, gt=0, description="How long records of work and retry topics are kept.")
    dead_retention_hours: float = Field(default=720.0, gt=0, description="How long records of dead-letter topics are kept.")
    max_record_bytes: int = Field(default=8_388_608, ge=65_536, le=104_857_600, description="Largest record; the topics are made for it.")

    group_instance_id: str = Field(
        default="",
        description="Stable, unique name of this replica (StatefulSet) for static membership; empty joins dynamically.",
    )
    heartbeat_s: float = Field(default=2.0, gt=0, description="How often a member tells the group that it lives.")
    session_timeout_s: float = Field(
        default=0.0, ge=0, description="A member that was not heard of for so long is dead; 0 takes 15 s, and 45 s with static membership."
    )
    drain_s: float = Field(default=20.0, gt=0, description="How long records in work may take to finish when partitions move.")
    rebalance_timeout_s: float = Field(default=60.0, gt=0, description="How long the group waits for its members when partitions move.")
    max_poll_interval_s: float = Field(default=600.0, gt=0, description="A member that took no records for so long leaves the group.")
    request_timeout_s: float = Field(default=120.0, gt=0, description="How long a request may take, and what outage a publish sits out.")
    commit_timeout_s: float = Field(default=5.0, gt=0, description="How long storing offsets may take before it is tried again.")
    retry_backoff_s: float = Field(default=0.5, gt=0, description="Pause between attempts to reach a broker.")
    metadata_max_age_s: float = Field(default=30.0, gt=0, description="How long topics and leaders are believed.")
    stall_s: float = Field(default=180.0, gt=0, description="The process ends when records wait and none arrived for so long (`Watchdog`).")

    @model_validator(mode="after")
    def _check(self) -> Self:
        wrong = [*self.limits.contradictions(), *self._login()]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self

    def _login(self) -> list[str]:
        wrong = []
        if self.uses_sasl and not (self.sasl_username and self.sasl_password.get_secret_value()):
            wrong.append(f"{self.security_protocol} needs EUNOE_KAFKA__SASL_USERNAME and EUNOE_KAFKA__SASL_PASSWORD")
        if (self.tls_cert_file is None) != (self.tls_key_file is None):
            wrong.append("EUNOE_KAFKA__TLS_CERT_FILE and EUNOE_KAFKA__TLS_KEY_FILE belong together")
        if self.min_insync_replicas > self.replication:
            wrong.append("EUNOE_KAFKA__MIN_INSYNC_REPLICAS is above EUNOE_KAFKA__REPLICATION, so nothing could be published")
        return wrong

    @property
    def uses_sasl(self) -> bool:
        """Clients log in."""
        return self.security_protocol.startswith("SASL")

    @property
    def uses_tls(self) -> bool:
        """The way is encrypted."""
        return self.security_protocol.endswith("SSL")

    @property
    def session_s(self) -> float:
        """The session time-out in force."""
        return self.session_timeout_s or (STATIC_SESSION_S if self.group_instance_id else DYNAMIC_SESSION_S)

    @property
    def insync(self) -> int:
        """`min.insync.replicas` of the topics."""
        return self.min_insync_replicas or max(1, self.replication - 1)

    @property
    def limits(self) -> Limits:
        """The times that depend on each other."""
        return Limits(
            heartbeat_s=self.heartbeat_s,
            session_s=self.session_s,
            commit_timeout_s=self.commit_timeout_s,
            drain_s=self.drain_s,
            rebalance_timeout_s=self.rebalance_timeout_s,
            request_timeout_s=self.request_timeout_s,
            max_poll_interval_s=self.max_poll_interval_s,
        )
