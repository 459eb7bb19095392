"""What the runner tells about a group."""

from __future__ import annotations

from dataclasses import dataclass

from eunoe_contracts.clock import Clock


@dataclass(frozen=True, slots=True)
class GroupHealth:
    """State of a group. `lag` is some seconds old; `last_progress_age_s` is 0 while there is nothing to do.

    `reason` is the code of what hinders it now, or empty.
    """

    paused: bool
    lag: int
    in_flight: int
    last_progress_age_s: float
    reason: str


class Progress:
    """What one subscription notes while it works."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moved = clock.monotonic()
        self.lag = 0
        self._troubles: dict[str, str] = {}

    def moved(self) -> None:
        """A record was finished, or there was nothing to do."""
        self._moved = self._clock.monotonic()

    def hindered(self, doing: str, code: str) -> None:
        """An attempt at this failed and is repeated."""
        self._troubles[doing] = code

    def went_on(self, doing: str) -> None:
        """This worked. Cheap, called after every success."""
        self._troubles.pop(doing, None)

    @property
    def trouble(self) -> str:
        """Code of something that is being repeated, or empty."""
        return next(iter(self._troubles.values()), "")

    @property
    def age_s(self) -> float:
        """Seconds since `moved`."""
        return self._clock.monotonic() - self._moved
