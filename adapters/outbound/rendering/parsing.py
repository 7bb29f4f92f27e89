"""Parses Markdown: CommonMark with tables, strikethrough, task lists, footnotes and some HTML tags."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering import leftovers, marks
from adapters.outbound.rendering.html_tags import html_tags

_WEB = re.compile(r"https?://\S+$", re.IGNORECASE)
_PERSON = re.compile(r"(?:mailto|tel):(?=\S+$)", re.IGNORECASE)

_PARSER = MarkdownIt("commonmark", {"html": True, "inline_definitions": True, "store_labels": True})
_PARSER.enable(["table", "strikethrough"]).disable("html_block")
_BLOCKS, _INLINE, _DOCUMENT = _PARSER.block.ruler, _PARSER.inline.ruler, _PARSER.core.ruler
_INLINE.before("escape", "bare_address", marks.bare_address)
_INLINE.before("escape", "formula", marks.formula)
_BLOCKS.before("reference", "footnote", marks.footnote, {"alt": ["paragraph", "reference"]})
_INLINE.before("link", "footnote_reference", marks.footnote_reference)
_DOCUMENT.after("block", "tasks", marks.tasks)
_BLOCKS.before("table", "too_deep", leftovers.too_deep)
_DOCUMENT.after("block", "further_cells", leftovers.further_cells)
_DOCUMENT.after("block", "words_behind_fences", leftovers.words_behind_fences)
_DOCUMENT.after("block", "list_numbers", leftovers.list_numbers)
_DOCUMENT.push("unused_definitions", leftovers.unused_definitions)
_DOCUMENT.push("html_tags", html_tags)
_INLINE.before("strikethrough", "delimiters_in_words", leftovers.delimiters_in_words)
_INLINE.before("emphasis", "python_names", leftovers.python_names)
_DOCUMENT.push("emphasis_depth", leftovers.emphasis_depth)


def tokens(markdown: str) -> list[Token]:
    """The tokens of a Markdown text."""
    return _PARSER.parse(markdown)


def parsed(markdown: str) -> list[SyntaxTreeNode]:
    """The blocks of a Markdown text as syntax trees, in order."""
    return SyntaxTreeNode(tokens(markdown)).children


def is_safe(address: str, *, web_alone: bool = False) -> bool:
    """Return True for addresses that a link may have: of the web, and unless `web_alone`, of mail or a telephone."""
    return bool(_WEB.match(address) or (not web_alone and _PERSON.match(address)))


def shown(address: str) -> str:
    """An address as a person writes it: that of mail or a telephone without its scheme."""
    return _PERSON.sub("", address, count=1) if _PERSON.match(address) else address
