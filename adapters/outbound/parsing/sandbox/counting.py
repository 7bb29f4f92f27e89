"""The tokenizer of the embedding model, loaded before children are forked, which then share it."""

from functools import lru_cache
from pathlib import Path

from adapters.outbound.embedding.model_files import ModelFiles
from domain.knowledge.text_units import CountTokens


@lru_cache(1)
def counter(model_dir: str) -> CountTokens:
    """Counts as the model in this folder does."""
    count_tokens = ModelFiles(Path(model_dir)).count_tokens
    count_tokens([""])
    return count_tokens
