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


TELL_AGAIN_S = 60.0


class Progress:
    """What one subscription notes while it works."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moved = clock.monotonic()
        self.lag = 0
        self._troubles: dict[str, str] = {}
        self._told: dict[tuple[str, str], float] = {}

    def moved(self) -> None:
        """A record was finished, or there was nothing to do."""
        self._moved = self._clock.monotonic()

    def hindered(self, doing: str, code: str) -> bool:
        """An attempt at this failed and is repeated; true when that is worth a line in the log: news, or not said for a minute."""
        self._troubles[doing] = code
        now = self._clock.monotonic()
        told = self._told.get((doing, code))
        if told is not None and now - told < TELL_AGAIN_S:
            return False
        self._told[doing, code] = now
        return True

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
