"""Embedding models: their files, their export to ONNX, and the computation of vectors."""
