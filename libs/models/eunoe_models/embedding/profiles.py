"""Known embedding models: identity, size, window, calibration. The curves are fitted by `bench/calibration.py`."""

from __future__ import annotations

from eunoe_models.embedding.port import Calibration, ModelProfile

MINILM = ModelProfile(
    model_id="minilm-int8-fused-1",
    dimensions=384,
    window=254,
    calibration=Calibration(midpoint=0.46, slope=17.0),
)
"""all-MiniLM-L6-v2, English. The number in the id changes when the graph gives other vectors, so that indexes are not mixed."""

PROFILES = {"minilm": MINILM}
