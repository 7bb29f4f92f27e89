"""Parses Markdown: CommonMark with tables, strikethrough, task lists, footnotes and some HTML tags."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering.html_tags import read_html_tags
from adapters.outbound.rendering.leftovers import keep_leftovers, limit_emphasis
from adapters.outbound.rendering.marks import find_addresses, find_formulas, find_github_marks

_WEB = re.compile(r"https?://\S+$", re.IGNORECASE)
_PERSON = re.compile(r"(?:mailto|tel):(?=\S+$)", re.IGNORECASE)

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
for extend in (
    find_addresses,
    find_formulas,
    find_github_marks,
    keep_leftovers,
    read_html_tags,
    limit_emphasis,
):
    extend(_PARSER)


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
