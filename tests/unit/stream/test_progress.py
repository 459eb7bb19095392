from __future__ import annotations

from eunoe_stream.runner.health import TELL_AGAIN_S, Progress
from eunoe_telemetry.testing import ManualClock


def test_a_lasting_trouble_is_told_once_a_minute() -> None:
    clock = ManualClock()
    progress = Progress(clock)
    assert [progress.hindered("fetch", "storage_full") for _ in range(3)] == [True, False, False]
    assert progress.hindered("fetch", "store_unavailable"), "another trouble is news"
    assert progress.hindered("commit", "storage_full"), "so is the same one elsewhere"
    clock.advance(TELL_AGAIN_S)
    assert progress.hindered("fetch", "storage_full")
    assert progress.trouble
