"""Questions to knowledge bases and their answers."""

from dataclasses import dataclass

from domain.routing.model import Citation


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """What was said before a question; `role` is `user` or `assistant`."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class KnowledgeAnswer:
    """Markdown text with marks `[1]`, and the passages that they point to. `searched`: the base was searched for it;
    False for an answer that a model gave without a look at the documents."""

    answer: str
    citations: tuple[Citation, ...]
    searched: bool = True
