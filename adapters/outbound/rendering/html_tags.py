"""The few HTML tags that models write within Markdown, as what they mean; any other tag is text.

A pair counts where it opens and closes within one paragraph, cell or heading. Comments are not shown.
"""

import re
from collections import Counter
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_STYLES = {
    **dict.fromkeys(("b", "strong", "summary", *_HEADINGS), ("strong", "strong")),
    **dict.fromkeys(("i", "em", "cite", "dfn", "var"), ("em", "em")),
    **dict.fromkeys(("s", "del", "strike"), ("s", "s")),
}
"""Tag to the token and the tag of what Markdown has for it."""
_CODE = frozenset(("code", "kbd", "samp", "tt"))
_ITEM, _RULE = "li", "hr"
_BLOCKS = frozenset(
    ("details", "summary", "p", "div", "center", "section", "blockquote", "ul", "ol", _ITEM, *_HEADINGS)
)
"""Their tags end a line; they also vanish where they stand alone on one."""
_UNSEEN = frozenset(("u", "ins", "mark", "small", "big", "span", "font", "abbr")) | _BLOCKS
_SHIFTED = {
    "sup": str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ"),
    "sub": str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"),
}
_SIGNS = {"sup": "^", "sub": "_"}
_PAIRED = _CODE | _UNSEEN | frozenset(_STYLES) | frozenset(_SHIFTED) | {"a"}
_TAG = re.compile(r"<(/?)(!--|[A-Za-z][A-Za-z0-9-]*)")
_UNSHOWN = frozenset({"!--", "wbr"})
"""Comments, and places where a word may be broken."""
_BREAKS = ("softbreak", "hardbreak")


def html_tags(state: StateCore) -> None:
    kept: list[Token] = []
    for token in state.tokens:
        if token.type == "inline" and token.children and "<" in token.content:
            token.children = _Reader(state.md).read(token.children)
        kept.append(token)
        if token.type == "paragraph_close" and not kept[-2].children and kept[-2].content:
            del kept[-3:]
    state.tokens = kept


class _Reader:
    """Reads one inline content. `frames` hold the tags that are open within each Markdown span around."""

    def __init__(self, parser: MarkdownIt) -> None:
        self._parser = parser
        self._out: list[Token] = []
        self._frames: list[list[tuple[str, int]]] = [[]]
        self._open: list[Counter[str]] = [Counter()]

    def read(self, tokens: Sequence[Token]) -> list[Token]:
        if not any(token.type in ("html_inline", "image") for token in tokens):
            return list(tokens)
        for token in tokens:
            if token.children:
                token.children = _Reader(self._parser).read(token.children)
            if token.type == "html_inline":
                self._take_tag(token)
                continue
            if token.nesting > 0:
                self._frames.append([])
                self._open.append(Counter())
            elif token.nesting < 0:
                self._frames.pop()
                self._open.pop()
            self._out.append(token)
        return _tidied(_without_lone_tags(self._out))

    def _take_tag(self, token: Token) -> None:
        tag = _TAG.match(token.content)
        slash, name = (tag[1], tag[2].lower()) if tag else ("", "")
        opening, closing = ("", name) if slash else (name, "")
        if opening in _UNSHOWN:
            return
        if name == "br":
            self._out.append(Token("hardbreak", "br", 0))
        elif opening == _RULE:
            self._out += [_line_end(), _text("———"), _line_end()]
        elif opening == "img" and (image := _image(self._parser, token.content)):
            self._out.append(image)
        elif self._open[-1][closing]:
            self._close(closing)
        else:
            if opening in _PAIRED:
                self._frames[-1].append((opening, len(self._out)))
                self._open[-1][opening] += 1
            self._out.append(token)

    def _close(self, name: str) -> None:
        opened = ""
        while opened != name:
            opened, at = self._frames[-1].pop()
            self._open[-1][opened] -= 1
        tag, inner = self._out[at], self._out[at + 1 :]
        del self._out[at:]
        if name in _CODE:
            content = "".join(map(_source, inner))
            inner = [Token("code_inline", "code", 0, content=content)] if content else []
        elif name in _SHIFTED:
            inner = _shifted(name, inner)
        elif name == "a":
            address = _address(self._parser, _attributes(tag.content).get("href"))
            inner = _around("link", "a", inner, {"href": address}) if address else inner
        elif name in _STYLES:
            inner = _around(*_STYLES[name], inner)
        elif name == _ITEM:
            inner = [_text("• "), *_tidied(inner)]
        self._out += [_line_end(), *inner, _line_end()] if name in _BLOCKS else inner


def _around(
    kind: str, tag: str, inner: list[Token], attributes: dict[str, str | int | float] | None = None
) -> list[Token]:
    if not inner:
        return inner
    return [Token(f"{kind}_open", tag, 1, attrs=attributes or {}), *inner, Token(f"{kind}_close", tag, -1)]


def _line_end() -> Token:
    return Token("softbreak", "br", 0)


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _source(token: Token) -> str:
    """What a token says inside of code: emphasis is as it was typed."""
    return " " if token.type in _BREAKS else token.content or token.markup


def _shifted(name: str, inner: list[Token]) -> list[Token]:
    """Raised or lowered digits and signs as such characters; other formulas by `^` and `_`; words as they are."""
    if len(inner) != 1 or inner[0].type != "text":
        return inner
    text = inner[0].content
    if all(ord(char) in _SHIFTED[name] for char in text):
        return [_text(text.translate(_SHIFTED[name]))]
    if len(text) == 1:
        return [_text(_SIGNS[name] + text)]
    is_formula = any(map(str.isdigit, text)) and " " not in text
    return [_text(f"{_SIGNS[name]}({text})" if is_formula else text)]


def _image(parser: MarkdownIt, tag: str) -> Token | None:
    attributes = _attributes(tag)
    address = _address(parser, attributes.get("src"))
    if not address:
        return None
    alt = attributes.get("alt") or ""
    children = [_text(alt)] if alt else []
    return Token("image", "img", 0, attrs={"src": address, "alt": ""}, content=alt, children=children)


def _address(parser: MarkdownIt, given: str | None) -> str | None:
    address = parser.normalizeLink(unescape(given or "").strip())
    return address if address and parser.validateLink(address) else None


def _attributes(tag: str) -> dict[str, str | None]:
    reader = _Attributes()
    reader.feed(tag)
    return reader.found


class _Attributes(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found = dict(attrs)


def _without_lone_tags(tokens: list[Token]) -> list[Token]:
    """Without the tags of blocks that stand alone on a line: what they open or close lies in other paragraphs."""
    kept: list[Token] = []
    for before, token, after in zip([_line_end(), *tokens], tokens, [*tokens[1:], _line_end()], strict=False):
        is_alone = before.type in _BREAKS and after.type in _BREAKS
        tag = _TAG.match(token.content) if is_alone and token.type == "html_inline" else None
        if tag is None or tag[2].lower() not in _BLOCKS:
            kept.append(token)
    return kept


def _is_beside_backticks(tokens: list[Token], at: int) -> bool:
    """Return True for code made of tags that has a backtick beside it: platforms would take its marks for a fence."""
    if tokens[at].type != "code_inline" or tokens[at].markup:
        return False
    if at and tokens[at - 1].type == "code_inline":
        return True
    before = _source(tokens[at - 1]) if at else ""
    after = _source(tokens[at + 1]) if at + 1 < len(tokens) else ""
    return before.endswith("`") or after.startswith("`")


def _tidied(tokens: list[Token]) -> list[Token]:
    """Other tags as text, adjacent texts joined, and no line end at the edges or twice in place of a tag."""
    out: list[Token] = []
    for at, source in enumerate(tokens):
        is_text = source.type == "html_inline" or _is_beside_backticks(tokens, at)
        token = _text(source.content) if is_text else source
        last = out[-1].type if out else ""
        if token.type in _BREAKS:
            _add_break(out, token)
        elif (last, token.type) == ("text", "text"):
            out[-1] = _text(out[-1].content + token.content)
        elif (last, token.type) == ("hardbreak", "text"):
            out.append(_text(token.content.lstrip()))
        else:
            out.append(token)
    while out and out[-1].type in _BREAKS:
        out.pop()
    return out


def _add_break(out: list[Token], token: Token) -> None:
    if not out or (token.type == "softbreak" and out[-1].type in _BREAKS):
        return
    if out[-1].type == "text":
        out[-1] = _text(out[-1].content.rstrip(" "))
    elif out[-1].type == "softbreak":
        out.pop()
    out.append(token)
