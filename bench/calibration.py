"""How is a cosine turned into the reported score? Fits midpoint and slope of `Calibration` for a model.

Data: 40 passages written for this purpose with a question each that shares few words with its passage (good hits), 50 questions
about things that stand nowhere in the passages (off topic), and about 550 passages of Python's own language reference from the
standard library as a large unrelated corpus: an off-topic question is judged by its best passage among all of them, as in a search.

Fit: the logistic curve through two points. The 98th percentile of the off-topic best cosines gets .25, the 20th percentile of the good
hits gets .60. The script prints how many of each are on the right side, and the same for two random halves (fitted on one, counted on
the other).

Result, 591 passages: midpoint .396, slope 24.2 (halves: .392 and 14.4, .414 and 24.7). Set are .46 and 17, more careful than the fit: the
best of thousands of unrelated passages comes nearer than the best of these (conversation questions against encyclopaedia passages: median
best cosine .37). With them all 50 off-topic questions stay below .3; 20 of 40 good hits are above .6 by their cosine alone, mean .57. The
words that query and hit share raise the reported score further (`eunoe_search.calibration`), which these figures leave out.

Run: .venv/bin/python bench/calibration.py   (needs the model: eunoe models pull)
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import sys
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
from eunoe_models.artifacts import load_embedder
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.port import Calibration, EmbeddingModel, Lane, Role, TokenCounter, Vectors

DATA = json.loads(Path(__file__).with_name("calibration_pairs.json").read_text(encoding="utf-8"))
PAIRS = [(each["question"], each["passage"]) for each in DATA["pairs"]]
OFF_TOPIC: list[str] = DATA["off_topic"]
OFF_POINT = (0.98, 0.25)
GOOD_POINT = (0.20, 0.60)
OFF_LIMIT = 0.3
GOOD_LIMIT = 0.6


def fitted(off: Vectors, good: Vectors) -> Calibration:
    """The logistic curve through the two points."""
    low, high = float(np.quantile(off, OFF_POINT[0])), float(np.quantile(good, GOOD_POINT[0]))
    logit_low, logit_high = (math.log(value / (1 - value)) for value in (OFF_POINT[1], GOOD_POINT[1]))
    slope = (logit_high - logit_low) / (high - low)
    return Calibration(midpoint=low - logit_low / slope, slope=slope)


def scores(cosines: Vectors, curve: Calibration) -> Vectors:
    """The reported scores."""
    return np.asarray(1 / (1 + np.exp(-curve.slope * (cosines - curve.midpoint))), np.float32)


def passages(counter: TokenCounter) -> list[str]:
    """The language reference in passages as long as the window."""
    found = []
    for text in topics.values():
        rest = text
        while rest.strip():
            end = counter.cut(rest, counter.window) or len(rest)
            found.append(rest[:end])
            rest = rest[end:]
    return found


async def queries(model: EmbeddingModel, texts: list[str]) -> Vectors:
    """One at a time, as search does."""
    return np.concatenate([await model.embed([text], lane=Lane.INTERACTIVE, role=Role.QUERY) for text in texts])


def share(cosines: Vectors, curve: Calibration, limit: float, *, above: bool) -> str:
    """How many are on the right side."""
    right = int(((scores(cosines, curve) > limit) if above else (scores(cosines, curve) < limit)).sum())
    return f"{right} of {len(cosines)}"


async def main() -> int:
    """Fit, print, cross-check."""
    loaded = load_embedder(ModelSettings())
    if loaded.model is None:
        print(loaded.reason)
        return 3
    own = await loaded.model.embed([passage for _, passage in PAIRS])
    corpus = np.concatenate([own, await loaded.model.embed(passages(loaded.counter))])
    asked = await queries(loaded.model, [question for question, _ in PAIRS])
    off = (await queries(loaded.model, OFF_TOPIC) @ corpus.T).max(axis=1)
    good = (asked * own).sum(axis=1)
    unrelated = (asked @ own.T)[~np.eye(len(PAIRS), dtype=bool)]
    for name, values in (("good hits", good), ("off topic, best of all", off), ("question and another's passage", unrelated)):
        marks = " ".join(f"{np.quantile(values, at):.3f}" for at in (0, 0.02, 0.2, 0.5, 0.8, 0.98, 1))
        print(f"{name:32} cosine min, 2 %, 20 %, median, 80 %, 98 %, max: {marks}")
    curve = fitted(off, good)
    print(f"{len(corpus)} passages. midpoint {curve.midpoint:.3f} slope {curve.slope:.2f}; now set: {loaded.model.profile.calibration}")
    for label, each in (("fitted", curve), ("set", loaded.model.profile.calibration)):
        print(
            f"{label}: off topic below {OFF_LIMIT}: {share(off, each, OFF_LIMIT, above=False)}, good above {GOOD_LIMIT}: "
            f"{share(good, each, GOOD_LIMIT, above=True)}, mean {scores(off, each).mean():.2f} and {scores(good, each).mean():.2f}"
        )
    order = random.Random(1)  # noqa: S311 - a split of data, not a secret
    for _ in range(2):
        off_half, good_half = (order.sample(range(len(each)), len(each) // 2) for each in (off, good))
        half = fitted(off[off_half], good[good_half])
        rest_off, rest_good = np.delete(off, off_half), np.delete(good, good_half)
        right = f"off topic {share(rest_off, half, OFF_LIMIT, above=False)}, good {share(rest_good, half, GOOD_LIMIT, above=True)}"
        print(f"half: midpoint {half.midpoint:.3f} slope {half.slope:.2f}; on the other half {right}")
    await loaded.close()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
