"""Latency and recall of search over synthetic bases."""
