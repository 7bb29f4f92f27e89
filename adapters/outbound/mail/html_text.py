"""HTML mail as plain text. The parser is imported with the first mail, to keep an idle service small."""

import re
from collections.abc import Mapping

from adapters.outbound.system.links import address_behind

_SKIPPED = {"script", "style", "head", "title", "template", "noscript", "object", "svg"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "dd", "div", "dl", "dt", "fieldset", "figure", "footer",
    "form", "header", "li", "main", "nav", "ol", "pre", "section", "table", "tbody", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
_PARAGRAPHS = dict.fromkeys(("p", "h1", "h2", "h3", "h4", "h5", "h6"), "\n\n")
_BEFORE = {**_PARAGRAPHS, "br": "\n", "hr": "\n\n", "td": " ", "th": " "}
_QUOTES = {"gmail_quote", "gmail_quote_container", "yahoo_quoted", "moz-cite-prefix", "protonmail_quote"}
_QUOTE_IDS = {"appendonsend", "divrplyfwdmsg", "mail-editor-reference-message-container"}
_LONGEST_LABEL = 100
"""Pieces of the text of a link that are compared with its address."""
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")


def html_to_text(html: str) -> str:
    """The readable text: blocks as lines, list items with dashes, links with their address in brackets."""
    return _read(html, split_quotes=False)[0]


def split_html(html: str) -> tuple[str, str]:
    """The text as of `html_to_text`, and apart from it what mail programs mark as the earlier conversation."""
    return _read(html, split_quotes=True)


def links_in(html: str) -> list[tuple[str, str]]:
    """The labels and addresses of the links."""
    return _built(html, split_quotes=False).links


def _read(html: str, *, split_quotes: bool) -> tuple[str, str]:
    builder = _built(html, split_quotes=split_quotes)
    return _text_of(builder.own), _text_of(builder.quoted)


def _built(html: str, *, split_quotes: bool) -> "_TextBuilder":
    from lxml import etree

    builder = _TextBuilder(split_quotes=split_quotes)
    parser = etree.HTMLParser(target=builder, huge_tree=True, no_network=True)
    parser.feed(f"<div>{_UNREADABLE.sub('', html)}</div>")
    parser.close()
    return builder


def _text_of(pieces: list[str]) -> str:
    """The lines without blanks around them, but for the delimiter of a signature (RFC 3676, 4.3)."""
    lines = ["-- " if line.lstrip() == "-- " else line.strip() for line in "".join(pieces).splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _TextBuilder:
    """A parser target: gets each start tag, text and end tag, always well nested."""

    def __init__(self, *, split_quotes: bool) -> None:
        self.own: list[str] = []
        self.quoted: list[str] = []
        self.links: list[tuple[str, str]] = []
        self._split_quotes = split_quotes
        self._out = self.own
        self._depth = 0
        self._skipped_from: int | None = None
        self._quoted_from: int | None = None
        self._preformatted = 0
        self._links: list[tuple[str, int]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._split_quotes and attributes.get("id", "").lower() in _QUOTE_IDS:
            self._quoted_from = 0  # to the end
        if self._quoted_from is None and self._is_quote(tag, attributes):
            self._quoted_from = self._depth
        if self._skipped_from is None and tag in _SKIPPED:
            self._skipped_from = self._depth
        self._out = self.own if self._quoted_from is None else self.quoted
        if self._skipped_from is None:
            self._begin(tag, attributes)

    def _begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _BLOCKS:
            self._begin_line()
        self._write(_BEFORE.get(tag, ""))
        if tag == "li":
            self._write("- ")
        elif tag == "img":
            self.data(attributes.get("alt", ""))
        elif tag == "a":
            self._links.append((attributes.get("href", ""), len(self._out)))
        elif tag == "pre":
            self._preformatted += 1

    def end(self, tag: str) -> None:
        if self._skipped_from == self._depth:
            self._skipped_from = None
        elif self._skipped_from is None:
            if tag == "a" and self._links:
                href, start = self._links.pop()
                label = "".join(self._out[start : start + _LONGEST_LABEL]).strip()
                self.links.append((label, href))
                self._write(address_behind(label, href))
            if tag in _BLOCKS:
                self._begin_line()
            self._write(_PARAGRAPHS.get(tag, ""))
            if tag == "pre":
                self._preformatted = max(0, self._preformatted - 1)
        if self._quoted_from == self._depth:
            self._quoted_from, self._out = None, self.own
        self._depth -= 1

    def data(self, data: str) -> None:
        if self._skipped_from is None:
            self._write(data if self._preformatted else _SPACE.sub(" ", data))

    def _is_quote(self, tag: str, attributes: Mapping[str, str]) -> bool:
        classes = attributes.get("class", "").lower().split()
        is_citation = tag == "blockquote" and attributes.get("type", "").lower() == "cite"
        return self._split_quotes and (is_citation or not _QUOTES.isdisjoint(classes))

    def _begin_line(self) -> None:
        if self._out and not self._out[-1].endswith("\n"):
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._out.append(text)

    def close(self) -> None:
        """Called by the parser at the end."""
