"""Emphasis within emphasis within emphasis: the innermost is text, so that trees of spans stay shallow."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_DEEPEST = 20
_EMPHASIS = ("strong", "em", "s")


def limit_emphasis(parser: MarkdownIt) -> None:
    """Teaches a parser to show the delimiters of emphasis that is nested more than 20 deep."""
    parser.core.ruler.push("emphasis_depth", _emphasis_depth)


def _emphasis_depth(state: StateCore) -> None:
    for token in state.tokens:
        if token.children:
            _flatten(token.children)


def _flatten(tokens: list[Token]) -> None:
    depth = 0
    for at, token in enumerate(tokens):
        depth += token.nesting
        kind = token.type.removesuffix("_open").removesuffix("_close")
        if kind in _EMPHASIS and depth + (token.nesting < 0) > _DEEPEST:
            tokens[at] = Token("text", "", 0, content=token.markup)
        if token.children:
            _flatten(token.children)
