"""The ONNX graph: embeddings, six encoder layers of fused operators, mean pooling and L2 norm; about eleven nodes a layer.

Inputs `ids` (batch, length) int64 and `lengths` (batch) int32, padded on the right; output `vectors` (batch, 384) float32.
The operators of the domain `com.microsoft` are onnxruntime's contrib operators.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

from eunoe_models.embedding.minilm.quantise import LEVELS, quantised
from eunoe_models.embedding.minilm.shape import EPSILON, HEADS, HIDDEN, LAYERS
from eunoe_models.embedding.minilm.weights import Floats, Weights

OPSET = 17
CONTRIB = "com.microsoft"


class GraphBuilder:
    """Collects nodes and constants of one graph; `build` once."""

    def __init__(self, weights: Weights, *, levels: int = LEVELS) -> None:
        self._weights = weights
        self._levels = levels
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def build(self) -> ModelProto:
        """The whole model, checked for structure."""
        hidden = self._embedded()
        for layer in range(LAYERS):
            hidden = self._layer(layer, hidden)
        self._pooled(hidden)
        graph = helper.make_graph(
            self._nodes,
            "minilm-int8-fused",
            [
                helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "length"]),
                helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
            ],
            [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="eunoe")
        checker.check_model(model)
        return model

    def _constant(self, name: str, array: np.ndarray[Any, Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _node(self, operator: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def _embedded(self) -> str:
        table = quantised(self._weights.array("embeddings.word_embeddings.weight"), axis=0, levels=127)
        words = self._node("Gather", [self._constant("words", table.data), "ids"], "word_rows")
        scales = self._node("Gather", [self._constant("word_scales", table.scale[:, None]), "ids"], "word_row_scales")
        words = self._node("Cast", [words], "word_floats", to=TensorProto.FLOAT)
        words = self._node("Mul", [words, scales], "word_vectors")
        shape = self._node("Shape", ["ids"], "length", start=1, end=2)
        start = self._constant("zero", np.array([0], np.int64))
        positions = self._constant("positions", self._weights.positions())
        positions = self._node("Slice", [positions, start, shape, start], "position_vectors")
        return self._normalised(words, positions, "", "embeddings", "embedded")

    def _layer(self, layer: int, hidden: str) -> str:
        name = f"layer{layer}"
        prefix = f"encoder.layer.{layer}"
        mixed = self._attention(layer, hidden)
        dense = self._dense(mixed, *self._weights.dense(layer, "attention.output.dense"), f"{name}.attention_out")
        hidden = self._normalised(dense, hidden, f"{name}.attention_out.bias", f"{prefix}.attention.output", f"{name}.attended")
        wide = self._dense(hidden, *self._weights.dense(layer, "intermediate.dense"), f"{name}.wide")
        wide = self._node("BiasGelu", [wide, f"{name}.wide.bias"], f"{name}.gelu", domain=CONTRIB)
        narrow = self._dense(wide, *self._weights.dense(layer, "output.dense"), f"{name}.narrow")
        return self._normalised(narrow, hidden, f"{name}.narrow.bias", f"{prefix}.output", f"{name}.out")

    def _attention(self, layer: int, hidden: str) -> str:
        name = f"layer{layer}.attention"
        matrix, bias = self._weights.query_key_value(layer)
        data, scale = quantised(matrix, axis=1, levels=self._levels)
        parts = [f"{name}.input", f"{name}.input_scale", f"{name}.input_zero"]
        self._nodes.append(helper.make_node("DynamicQuantizeLinear", [hidden], parts, name=parts[0]))
        inputs = [
            parts[0],
            self._constant(f"{name}.weight", data),
            self._constant(f"{name}.bias", bias),
            parts[1],
            self._constant(f"{name}.scale", scale),
            "lengths",
            parts[2],
            self._constant(f"{name}.zero", np.zeros(len(scale), np.int8)),
        ]
        return self._node("QAttention", inputs, name, domain=CONTRIB, num_heads=HEADS)

    def _dense(self, source: str, matrix: Floats, bias: Floats, name: str) -> str:
        """Product without the bias: the operator that follows adds it in its own pass."""
        data, scale = quantised(matrix, axis=1, levels=self._levels)
        self._constant(f"{name}.bias", bias)
        inputs = [source, self._constant(f"{name}.weight", data), self._constant(f"{name}.scale", scale)]
        return self._node("DynamicQuantizeMatMul", inputs, name, domain=CONTRIB)

    def _normalised(self, source: str, skip: str, bias: str, prefix: str, name: str) -> str:
        gamma, beta = self._weights.norm(prefix)
        inputs = [source, skip, self._constant(f"{name}.gamma", gamma), self._constant(f"{name}.beta", beta)]
        inputs += [bias] if bias else []
        return self._node("SkipLayerNormalization", inputs, name, domain=CONTRIB, epsilon=EPSILON)

    def _pooled(self, hidden: str) -> None:
        """Mean over the real tokens as one matrix product with a row of ones and zeros, then length 1."""
        end = self._node("Squeeze", ["length"], "length_scalar")
        zero = self._constant("zero_scalar", np.array(0, np.int64))
        one = self._constant("one_scalar", np.array(1, np.int64))
        places = self._node("Range", [zero, end, one], "places")
        axis = self._constant("axis", np.array([1], np.int64))
        counts = self._node("Cast", ["lengths"], "counts", to=TensorProto.INT64)
        column = self._node("Unsqueeze", [counts, axis], "count_column")
        mask = self._node("Less", [places, column], "mask")
        mask = self._node("Cast", [mask], "mask_floats", to=TensorProto.FLOAT)
        row = self._node("Unsqueeze", [mask, axis], "mask_row")
        total = self._node("MatMul", [row, hidden], "total")
        total = self._node("Squeeze", [total, axis], "sum")  # the mean's divisor goes with the norm
        self._node("LpNormalization", [total], "vectors", axis=1, p=2)
