"""all-MiniLM-L6-v2 (Apache-2.0) as a fused int8 ONNX graph, built here from the published fp32 weights."""
