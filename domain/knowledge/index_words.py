"""Under which words a chunk is indexed, in each version of them."""

from domain.knowledge.codes import code_words, identifiers, joined
from domain.knowledge.words import normalise, normalise_1, normalise_2, words_of_folded

VERSION = 3
"""Chunks of an older version are indexed anew in the background. In version 2 Chinese was as it is written; in
version 1 Arabic letters were not folded either, and groups that form a code were not one word."""


def index_words(text: str, version: int = VERSION) -> set[str]:
    """The distinct words under which a text is found, its codes also in one piece."""
    if version == 1:
        return _first_version(text)
    folded = normalise(text) if version > 2 else normalise_2(text)
    return {*words_of_folded(folded), *code_words(text, folded)}


def _first_version(text: str) -> set[str]:
    codes = (joined(phrase) for phrase in identifiers(text, normalise_1) if len(phrase) > 1)
    return {*words_of_folded(normalise_1(text)), *codes}
