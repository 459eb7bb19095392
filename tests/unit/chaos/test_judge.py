"""The judge of the chaos run notices everything that it is there for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chaos.evidence import Evidence, Letter
from chaos.judge import findings, table
from chaos.members import Stopped
from chaos.plan import TOPICS, UNITS, Kind

LIMIT_S = 20.0
GOOD = Evidence(
    sent={1: Kind.PLAIN, 3: Kind.FLAKY, 7: Kind.POISON, 13: Kind.NO_EVENT, 31: Kind.NO_KEY},
    states={1: "finished", 3: "finished", 7: "exhausted"},
    units={1: UNITS, 3: UNITS},
    letters=[Letter(7, "corrupt_document", "why"), Letter(0, "malformed_event", "why"), Letter(0, "malformed_event", "why")],
    dead=[
        Letter(7, "corrupt_document", place="t/0/0"),
        Letter(13, "malformed_event", place="t/1/0"),
        Letter(31, "malformed_event", place="t/2/0"),
    ],
    outputs=[(1, "a"), (3, "b"), (3, "b")],
    lag=dict.fromkeys(TOPICS, 0),
    runs={1: 1, 3: 3, 7: 1},
    stops=[Stopped(1.0, 0)],
)
WRONG: dict[str, tuple[Evidence, str]] = {
    "never worked on": (replace(GOOD, states={3: "finished", 7: "exhausted"}, units={3: UNITS}, outputs=[(3, "b")]), "1 lost: 1"),
    "ledger without effect": (replace(GOOD, units={3: UNITS}), "1 lost: 1"),
    "no output": (replace(GOOD, outputs=[(3, "b")]), "1 lost: 1"),
    "undecodable and gone": (replace(GOOD, dead=GOOD.dead[:2], letters=GOOD.letters[:2]), "1 lost: 31"),
    "poisoned and not ended": (replace(GOOD, states={1: "finished", 3: "finished", 7: "running"}), "1 lost: 7"),
    "effect twice": (replace(GOOD, units={1: UNITS, 3: UNITS + 1}), "1 doubled in the ledger: 3"),
    "output under two ids": (replace(GOOD, outputs=[(1, "a"), (3, "b"), (3, "c")]), "1 on the output with different ids: 3"),
    "output from nowhere": (replace(GOOD, outputs=[*GOOD.outputs, (9, "x")]), "1 on the output and never sent: 9"),
    "a good one dead": (replace(GOOD, dead=[*GOOD.dead, Letter(3, "malformed_event", place="t/3/0")]), "1 dead without being poisoned: 3"),
    "a good one dead in the catalogue": (replace(GOOD, letters=[*GOOD.letters, Letter(3, "x", "y")]), "1 dead without being poisoned: 3"),
    "two letters for one": (replace(GOOD, letters=[*GOOD.letters, GOOD.letters[0]]), "1 poisoned without exactly one dead letter in the"),
    "one letter for two": (replace(GOOD, letters=GOOD.letters[:2]), "1 dead letters in the catalogue for 2 undecodable records"),
    "wrong reason": (replace(GOOD, dead=[replace(GOOD.dead[0], code="internal_error"), *GOOD.dead[1:]]), "1 dead with a wrong reason: 7"),
    "no reason": (replace(GOOD, letters=[replace(GOOD.letters[0], message=""), *GOOD.letters[1:]]), "1 dead without a reason: 7"),
    "not committed": (replace(GOOD, lag={**GOOD.lag, TOPICS[0]: 2}), f"2 records of {TOPICS[0]} are not committed"),
    "slow stop": (replace(GOOD, stops=[Stopped(20.5, 0)]), "a member took 20.5 s to stop and ended with 0"),
    "bad stop": (replace(GOOD, stops=[Stopped(1.0, -9)]), "a member took 1.0 s to stop and ended with -9"),
}


def test_a_good_run_is_found_good_and_its_duplicates_are_shown() -> None:
    assert findings(GOOD, stop_limit_s=LIMIT_S) == []
    shown = table(GOOD)
    assert (shown["lost"], shown["duplicates on the output"], shown["duplicates in the ledger"]) == ("0", "1", "0")
    assert shown["handlers that ran again"] == "2"
    assert shown["dead letters"] == "1 corrupt_document, 2 malformed_event"


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    evidence, words = WRONG[name]
    [found] = findings(evidence, stop_limit_s=LIMIT_S)
    assert found.startswith(words)
