"""all-MiniLM-L6-v2 as sentence-transformers saves it, made from the weights of the model cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from eunoe_models.artifacts.cache import weights_dir
from eunoe_models.artifacts.table import ARTIFACTS
from eunoe_models.config import ModelSettings
from eunoe_models.embedding.minilm import shape

KIND = "sentence_transformers.models"
SETTINGS = {
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": f"{KIND}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{KIND}.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{KIND}.Normalize"},
    ],
    "sentence_bert_config.json": {"max_seq_length": shape.MAX_LENGTH, "do_lower_case": False},
    "config.json": {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": shape.HIDDEN,
        "intermediate_size": shape.INTERMEDIATE,
        "layer_norm_eps": shape.EPSILON,
        "max_position_embeddings": shape.POSITIONS,
        "num_attention_heads": shape.HEADS,
        "num_hidden_layers": shape.LAYERS,
        "pad_token_id": 0,
        "type_vocab_size": 2,
        "vocab_size": shape.VOCABULARY,
    },
    "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": shape.POSITIONS},
    "1_Pooling/config.json": {"word_embedding_dimension": shape.HIDDEN, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
}


@pytest.fixture(scope="session")
def minilm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    weights = weights_dir(ARTIFACTS["minilm"], settings=ModelSettings())
    if not (weights / "manifest.json").exists():
        pytest.skip("the weights are not there; run `make models`")
    folder = tmp_path_factory.mktemp("minilm")
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).symlink_to(weights / name)
    for name, content in SETTINGS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    (folder / "2_Normalize").mkdir()
    return folder
