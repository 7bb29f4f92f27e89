"""What is said where an answer says nothing, or was not looked for. Pure."""

from collections.abc import Iterable

from domain.knowledge.model import Base

NOT_SEARCHED = "(The documents were not searched for this answer.)"
"""Ends an answer of a model that could search, and did not."""


def nothing_found(bases: Iterable[Base]) -> str:
    names = ", ".join(base.name for base in bases)
    return f"Nothing found in the knowledge base {names}." if names else "Nothing found."


def is_empty(answer: str) -> bool:
    """True for an answer without a letter, digit or sign: white space and punctuation alone."""
    return not answer.strip(" \t\r\n.,;:!?*_#>-")
