"""HTML mail as plain text. The parser is imported with the first mail, to keep an idle service small."""

import re
from collections.abc import Mapping

_SKIPPED = {"script", "style", "head", "title", "template", "noscript", "object", "svg"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "dd", "div", "dl", "dt", "fieldset", "figure", "footer",
    "form", "header", "li", "main", "nav", "ol", "pre", "section", "table", "tbody", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
_PARAGRAPHS = dict.fromkeys(("p", "h1", "h2", "h3", "h4", "h5", "h6"), "\n\n")
_BEFORE = {**_PARAGRAPHS, "br": "\n", "hr": "\n\n", "td": " ", "th": " "}
_QUOTES = {"gmail_quote", "gmail_quote_container", "yahoo_quoted", "moz-cite-prefix", "protonmail_quote"}
_QUOTE_IDS = {"appendonsend", "divrplyfwdmsg", "mail-editor-reference-message-container"}
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")


def html_to_text(html: str, *, drop_quotes: bool = True) -> str:
    """The readable text: blocks as lines, list items with dashes, links with their address in brackets.

    `drop_quotes` leaves out what mail programs mark as the quoted earlier conversation.
    """
    from lxml import etree

    parser = etree.HTMLParser(target=_TextBuilder(drop_quotes=drop_quotes), huge_tree=True, no_network=True)
    parser.feed(f"<div>{_UNREADABLE.sub('', html)}</div>")
    return str(parser.close())


class _TextBuilder:
    """A parser target: gets each start tag, text and end tag, always well nested."""

    def __init__(self, *, drop_quotes: bool) -> None:
        self._drop_quotes = drop_quotes
        self._out: list[str] = []
        self._depth = 0
        self._skipped_from: int | None = None
        self._ended = False
        self._preformatted = 0
        self._links: list[tuple[str, int]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._drop_quotes and attributes.get("id", "").lower() in _QUOTE_IDS:
            self._ended = True
        if self._skipped_from is None and (tag in _SKIPPED or self._is_quote(tag, attributes)):
            self._skipped_from = self._depth
        if not self._is_skipping:
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
        elif not self._is_skipping:
            self._end(tag)
        self._depth -= 1

    def _end(self, tag: str) -> None:
        if tag == "a" and self._links:
            self._end_link()
        if tag in _BLOCKS:
            self._begin_line()
        self._write(_PARAGRAPHS.get(tag, ""))
        if tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)

    def _end_link(self) -> None:
        href, start = self._links.pop()
        label = "".join(self._out[start:]).strip()
        address = href.removeprefix("mailto:")
        if href.startswith(("http://", "https://", "mailto:")) and address.rstrip("/") != label.rstrip("/"):
            self._write(f" ({address})" if label else address)

    def data(self, data: str) -> None:
        if not self._is_skipping:
            self._write(data if self._preformatted else _SPACE.sub(" ", data))

    def _is_quote(self, tag: str, attributes: Mapping[str, str]) -> bool:
        classes = attributes.get("class", "").lower().split()
        is_citation = tag == "blockquote" and attributes.get("type", "").lower() == "cite"
        return self._drop_quotes and (is_citation or not _QUOTES.isdisjoint(classes))

    @property
    def _is_skipping(self) -> bool:
        return self._ended or self._skipped_from is not None

    def _begin_line(self) -> None:
        if self._out and not self._out[-1].endswith("\n"):
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._out.append(text)

    def close(self) -> str:
        """The text, once all is read."""
        lines = [line.strip() for line in "".join(self._out).splitlines()]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
