"""Says whether anything was lost, doubled or left open. Pure: what it looks at is gathered elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from chaos.evidence import Evidence
from chaos.plan import UNITS, Kind

NAMED = 8
"""Numbers that a finding names."""
POISON_CODE, UNDECODABLE_CODE = "corrupt_document", "malformed_event"


def findings(evidence: Evidence, *, stop_limit_s: float) -> list[str]:
    """What is wrong, in words; empty when nothing is."""
    found = [*_lost(evidence), *_doubled(evidence), *_dead_letters(evidence), *_open(evidence), *_stops(evidence, stop_limit_s)]
    return [each for each in found if each]


def table(evidence: Evidence) -> dict[str, str]:
    """The figures of a run."""
    kinds = Counter(evidence.sent.values())
    outputs = Counter(number for number, _ in evidence.outputs)
    places = Counter(each.place for each in evidence.dead)
    reasons = Counter(each.code for each in evidence.letters)
    return {
        "records": f"{len(evidence.sent)} ({', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))})",
        "lost": str(sum(1 for _ in _missing(evidence))),
        "handlers that ran again": str(sum(count - 1 for count in evidence.runs.values())),
        "duplicates on the output": str(sum(count - 1 for count in outputs.values())),
        "duplicates on the dead letters": str(sum(count - 1 for count in places.values())),
        "duplicates in the ledger": str(sum(1 for count in evidence.units.values() if count > UNITS)),
        "dead letters": ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())) or "none",
        "not committed": str(sum(evidence.lag.values())),
        "slowest stop": f"{max((each.seconds for each in evidence.stops), default=0.0):.1f} s of {len(evidence.stops)}",
        "ended by themselves": str(len(evidence.by_themselves)),
    }


def _missing(evidence: Evidence) -> Iterator[int]:
    outputs = {number for number, _ in evidence.outputs}
    dead = {each.number for each in evidence.dead}
    for number, kind in evidence.sent.items():
        if kind.ends_well:
            is_there = evidence.states.get(number) == "finished" and evidence.units.get(number, 0) >= UNITS and number in outputs
        else:
            is_there = number in dead and (not kind.is_decodable or evidence.states.get(number) == "exhausted")
        if not is_there:
            yield number


def _lost(evidence: Evidence) -> Iterator[str]:
    yield _named("lost", _missing(evidence))


def _doubled(evidence: Evidence) -> Iterator[str]:
    yield _named("doubled in the ledger", (number for number, count in evidence.units.items() if count > UNITS))
    ids: dict[int, set[str]] = defaultdict(set)
    for number, event_id in evidence.outputs:
        ids[number].add(event_id)
    yield _named("on the output with different ids", (number for number, found in ids.items() if len(found) > 1))
    yield _named("on the output and never sent", (number for number in ids if number not in evidence.sent))


def _dead_letters(evidence: Evidence) -> Iterator[str]:
    sent = evidence.sent
    poisoned = {number for number, kind in sent.items() if kind is Kind.POISON}
    named = Counter(each.number for each in evidence.letters if each.number)
    yield _named(
        "dead without being poisoned", {*named, *(each.number for each in evidence.dead)} - {n for n in sent if not sent[n].ends_well}
    )
    yield _named("poisoned without exactly one dead letter in the catalogue", (number for number in poisoned if named[number] != 1))
    # A record that was sent twice, since its first confirmation was lost, lies at two places and has two letters.
    places = {each.place for each in evidence.dead if not sent.get(each.number, Kind.PLAIN).is_decodable}
    unnamed = sum(1 for each in evidence.letters if not each.number)
    if unnamed != len(places):
        yield f"{unnamed} dead letters in the catalogue for {len(places)} undecodable records"
    yield _named("dead with a wrong reason", (each.number for each in evidence.dead if each.code != _reason(sent.get(each.number))))
    yield _named("dead without a reason", (each.number for each in evidence.letters if not (each.code and each.message)))


def _reason(kind: Kind | None) -> str:
    return POISON_CODE if kind is Kind.POISON else UNDECODABLE_CODE


def _open(evidence: Evidence) -> Iterator[str]:
    for topic, count in evidence.lag.items():
        if count:
            yield f"{count} records of {topic} are not committed"


def _stops(evidence: Evidence, limit_s: float) -> Iterator[str]:
    for each in evidence.stops:
        if each.seconds > limit_s or each.code:
            yield f"a member took {each.seconds:.1f} s to stop and ended with {each.code}"


def _named(what: str, numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    return f"{len(found)} {what}: {', '.join(map(str, found[:NAMED]))}{' ...' if len(found) > NAMED else ''}" if found else ""
