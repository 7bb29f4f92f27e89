"""Parses Markdown: CommonMark with tables, strikethrough, task lists, footnotes and some HTML tags."""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering.extensions.addresses import find_addresses
from adapters.outbound.rendering.extensions.emphasis import limit_emphasis
from adapters.outbound.rendering.extensions.formulas import find_formulas
from adapters.outbound.rendering.extensions.github_marks import find_github_marks
from adapters.outbound.rendering.extensions.html_tags import read_html_tags
from adapters.outbound.rendering.extensions.leftovers import keep_leftovers
from adapters.outbound.rendering.splitting import split
from domain.channels.model import TextLimit

MOST_MARKDOWN = 50_000
"""Characters of a text that is read as Markdown; longer ones are shown as they are written. What the parser makes of
more would hold the garbage collector, and with it all threads, up."""
_BRACKETS = 2_000
_SLICE = TextLimit(5_000)
"""Of a text of more opening brackets, cut between blocks: the parser seeks a closing one for each."""

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


def tokens(markdown: str) -> Iterator[list[Token]]:
    """The tokens of a Markdown text, in slices of whole blocks."""
    for part in split(markdown, _SLICE if markdown.count("[") > _BRACKETS else None):
        yield _PARSER.parse(part)


def parsed(markdown: str) -> Iterator[SyntaxTreeNode]:
    """The blocks of a Markdown text as syntax trees, in order."""
    for piece in tokens(markdown):
        yield from SyntaxTreeNode(piece).children


def is_safe(address: str, *, web_alone: bool = False) -> bool:
    """Whether a link may lead there: the web, and unless `web_alone`, mail or a telephone."""
    return bool(_WEB.match(address) or (not web_alone and _PERSON.match(address)))


def shown(address: str) -> str:
    """An address as a person writes it: that of mail or a telephone without its scheme."""
    return _PERSON.sub("", address, count=1) if _PERSON.match(address) else address
