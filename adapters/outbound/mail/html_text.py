"""HTML mail as plain text. The parser is imported with the first mail, to keep an idle service small."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SKIPPED = {"script", "style", "head", "title", "template", "noscript", "object", "svg"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "dd", "div", "dl", "dt", "fieldset", "figure", "footer",
    "form", "header", "main", "nav", "ol", "pre", "section", "table", "tbody", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
_PARAGRAPHS = {"p", "h1", "h2", "h3", "h4", "h5", "h6"}
_QUOTES = {"gmail_quote", "gmail_quote_container", "yahoo_quoted", "moz-cite-prefix", "protonmail_quote"}
_QUOTE_IDS = {"appendonsend", "divrplyfwdmsg", "mail-editor-reference-message-container"}
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")


def html_to_text(html: str, *, drop_quotes: bool = True) -> str:
    """The readable text: blocks as lines, list items with dashes, links with their address in brackets.

    `drop_quotes` leaves out what mail programs mark as the quoted earlier conversation.
    """
    from lxml import etree

    reader = _Reader(drop_quotes=drop_quotes)
    parser = etree.HTMLParser(target=reader, huge_tree=True, no_network=True)
    parser.feed(f"<div>{_UNREADABLE.sub('', html)}</div>")
    return str(parser.close())


class _Reader:
    """A parser target: gets each start tag, text and end tag, always well nested."""

    def __init__(self, *, drop_quotes: bool) -> None:
        self._drop_quotes = drop_quotes
        self._out: list[str] = []
        self._depth = 0
        self._muted_at: int | None = None
        self._ended = False
        self._preformatted = 0
        self._links: list[tuple[str, int]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._drop_quotes and attributes.get("id", "").lower() in _QUOTE_IDS:
            self._ended = True
        if self._muted_at is None and (tag in _SKIPPED or self._is_quote(tag, attributes)):
            self._muted_at = self._depth
        if not self._silent:
            self._begin(tag, attributes)

    def _begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "br":
            self._out.append("\n")
        elif tag == "hr":
            self._out.append("\n\n")
        elif tag == "li":
            self._line()
            self._out.append("- ")
        elif tag in {"td", "th"}:
            self._out.append(" ")
        elif tag == "img" and attributes.get("alt"):
            self.data(attributes["alt"])
        elif tag == "a":
            self._links.append((attributes.get("href", ""), len(self._out)))
        elif tag in _PARAGRAPHS:
            self._out.append("\n\n")
        elif tag in _BLOCKS:
            self._line()
        if tag == "pre":
            self._preformatted += 1

    def end(self, tag: str) -> None:
        if self._muted_at == self._depth:
            self._muted_at = None
        elif not self._silent:
            self._end(tag)
        self._depth -= 1

    def _end(self, tag: str) -> None:
        if tag == "a" and self._links:
            self._end_link()
        elif tag in _PARAGRAPHS:
            self._out.append("\n\n")
        elif tag in _BLOCKS or tag == "li":
            self._line()
        if tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)

    def _end_link(self) -> None:
        href, start = self._links.pop()
        label = "".join(self._out[start:]).strip()
        shown = href.removeprefix("mailto:")
        if href.startswith(("http://", "https://", "mailto:")) and shown.rstrip("/") != label.rstrip("/"):
            self._out.append(f" ({shown})" if label else shown)

    def data(self, data: str) -> None:
        if not self._silent:
            self._out.append(data if self._preformatted else _SPACE.sub(" ", data))

    def _is_quote(self, tag: str, attributes: Mapping[str, str]) -> bool:
        if not self._drop_quotes:
            return False
        classes = set(attributes.get("class", "").lower().split())
        return bool(classes & _QUOTES) or (
            tag == "blockquote" and attributes.get("type", "").lower() == "cite"
        )

    @property
    def _silent(self) -> bool:
        return self._ended or self._muted_at is not None

    def _line(self) -> None:
        if self._out and not self._out[-1].endswith("\n"):
            self._out.append("\n")

    def close(self) -> str:
        """The text, once all is read."""
        lines = [line.strip() for line in "".join(self._out).splitlines()]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
