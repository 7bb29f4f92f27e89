"""Readers of the platforms' markups, as strict as the platforms: each gives the text that a person sees.

They fail (AssertionError) on what a platform would refuse or show as something else.
"""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from adapters.outbound.rendering import Markup
from adapters.outbound.rendering.marks import bare_address

_TELEGRAM_TAGS = {"b", "i", "s", "code", "pre", "blockquote", "a"}
_MAIL_TAGS = (
    {"html", "head", "body", "p", "strong", "em", "s", "code", "pre", "blockquote", "a", "ul", "ol", "li"}
    | {"table", "thead", "tbody", "tr", "th", "td"}
    | {f"h{level}" for level in range(1, 7)}
)
_VOID = {"br", "hr", "meta"}
_SAFE = re.compile(r"(https?://|mailto:|tel:)", re.IGNORECASE)


class _Html(HTMLParser):
    def __init__(self, allowed: set[str], attributes: set[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.allowed = allowed
        self.attributes = attributes
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        assert tag in self.allowed, f"<{tag}> is not allowed"
        for name, value in attrs:
            assert name in self.attributes, f"{name} is not allowed"
            if name == "href":
                assert _SAFE.match(value or ""), value
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another tag"

    def handle_data(self, data: str) -> None:
        self.seen.append(data)

    def read(self, text: str) -> str:
        self.feed(text)
        self.close()
        assert not self.open, f"<{self.open[-1]}> is left open"
        return "".join(self.seen)


def telegram_html(text: str) -> str:
    """https://core.telegram.org/bots/api#html-style"""
    bare = re.sub(r"</?[a-z]+(?: (?:href|class)=\"[^\"<>]*\")?>", "", text)
    assert "<" not in bare, bare
    assert ">" not in bare, bare
    assert not re.search(r"&(?!amp;|lt;|gt;|quot;|#x27;)", bare), bare
    reader = _Html(_TELEGRAM_TAGS, {"href", "class"})
    seen = reader.read(text)
    for code in re.findall(r"<(?:code|pre)[^>]*>(.*?)</(?:code|pre)>", text, re.DOTALL):
        assert not re.search(r"<(?!code class|/code)", code), f"an entity inside code: {code}"
    return seen


def mail(text: str) -> str:
    """An HTML document of harmless tags."""
    return _Html(_MAIL_TAGS, {"href", "style", "start", "value"}).read(text.removeprefix("<!DOCTYPE html>\n"))


_RESERVED = "_*[]()~`>#+-=|{}.!"
_MARKS = ("__", "_", "*", "~", "||")


class _MarkdownV2:
    """The grammar of https://core.telegram.org/bots/api#markdownv2-style"""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.open: list[str] = []
        self.seen: list[str] = []

    def read(self) -> str:
        while self.at < len(self.text):
            self.step()
        if self.open == [">"]:
            self.open.pop()
        assert not self.open, f"{self.open[-1]} is left open"
        return "".join(self.seen)

    def step(self) -> None:
        char = self.text[self.at]
        at_line_start = self.at == 0 or self.text[self.at - 1] == "\n"
        if char == "\\" and self.text[self.at + 1 : self.at + 2].isascii():
            self.take(self.text[self.at + 1], 2)
        elif char == ">" and at_line_start:
            if ">" not in self.open:
                assert not self.open, "a quote inside of an entity"
                self.open.append(">")
            self.at += 1
        elif char == "\n":
            if self.open and self.open[0] == ">" and self.text[self.at + 1 : self.at + 2] != ">":
                assert self.open == [">"], "an entity reaches out of its quote"
                self.open.pop()
            self.take(char, 1)
        elif char == "`":
            self.code()
        elif char == "[":
            self.open.append("[")
            self.at += 1
        elif char == "]" and self.open and self.open[-1] == "[":
            self.link()
        elif mark := next((each for each in _MARKS if self.text.startswith(each, self.at)), None):
            self.toggle(mark)
        else:
            assert char not in _RESERVED, (
                f"{char!r} is reserved: {self.text[max(0, self.at - 20) : self.at + 5]}"
            )
            self.take(char, 1)

    def take(self, char: str, length: int) -> None:
        self.seen.append(char)
        self.at += length

    def toggle(self, mark: str) -> None:
        if self.open and self.open[-1] == mark:
            self.open.pop()
        else:
            assert mark not in self.open, f"{mark} inside of {mark}"
            self.open.append(mark)
        self.at += len(mark)

    def code(self) -> None:
        assert not set(self.open) - {">"}, "code inside of an entity"
        mark = "```" if self.text.startswith("```", self.at) else "`"
        self.at += len(mark)
        if mark == "```":
            self.at += len(re.match(r"(?:[^\s`]*\n)?", self.text[self.at :])[0])  # type: ignore[index]
        while not self.text.startswith(mark, self.at):
            assert self.at < len(self.text), "code is left open"
            if self.text[self.at] == "\\":
                self.at += 1
            self.take(self.text[self.at], 1)
        self.at += len(mark)

    def link(self) -> None:
        self.open.pop()
        found = re.match(r"\]\(((?:[^)\\]|\\.)*)\)", self.text[self.at :], re.DOTALL)
        assert found, "a link without an address"
        assert _SAFE.match(found[1]), found[1]
        self.at += found.end()


def telegram_markdownv2(text: str) -> str:
    """https://core.telegram.org/bots/api#markdownv2-style"""
    return _MarkdownV2(text).read()


def telegram_markdown(text: str) -> str:
    """https://core.telegram.org/bots/api#markdown-style: no nesting, escapes outside of entities alone."""
    seen, at = [], 0
    entity = re.compile(
        r"```(?:[^\s`]*\n)?(?P<pre>.*?)```|`(?P<code>[^`]*)`|\*(?P<bold>[^*]*)\*|_(?P<italic>[^_]*)_"
        r"|\[(?P<link>[^\]]*)\]\((?P<address>[^)]*)\)",
        re.DOTALL,
    )
    while at < len(text):
        if found := re.compile(r"\\([_*`\[])").match(text, at):
            seen.append(found[1])
        elif found := entity.match(text, at):
            assert found["address"] is None or _SAFE.match(found["address"]), found["address"]
            seen.append(
                next((found[name] for name in ("pre", "code", "bold", "italic", "link") if found[name]), "")
            )
        else:
            assert text[at] not in "_*`[", f"can't find the end of the entity at {text[at:]!r}"
            seen.append(text[at])
        at = found.end() if found else at + 1
    return "".join(seen)


def mrkdwn(text: str) -> str:
    """https://docs.slack.dev/messaging/formatting-message-text: what stands in <> is a link, and nothing else."""
    lines = [re.sub("^> ", "", line) for line in text.split("\n")]
    outside = "\n".join(lines).split("```")
    assert len(outside) % 2 == 1, "a code block is left open"
    joined = "\n".join(lines)
    bare = re.sub(r"<((?:https?://|mailto:|tel:)[^<>|\n]*)\|([^<>\n]*)>", r"\2", joined)
    assert "<" not in bare, bare
    assert ">" not in bare, bare
    assert not re.search(r"&(?!amp;|lt;|gt;)", bare), bare
    return bare.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("\u200b", "")


def whatsapp(text: str) -> str:
    """Code blocks are closed."""
    assert text.count("```") % 2 == 0, "a code block is left open"
    assert "````" not in text, "a fence with a backtick too many"
    return text.replace("\u200b", "")


_COMMONMARK = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_NO_HTML = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_NO_ENTITIES = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).disable("entity")

for _parser in (_COMMONMARK, _NO_HTML, _NO_ENTITIES):
    _parser.inline.ruler.before("escape", "bare_address", bare_address)


def teams(text: str) -> str:
    """What CommonMark with tables and strikethrough shows; no HTML and no fence left open."""
    return _markdown(text, _COMMONMARK)


def mattermost(text: str) -> str:
    """As CommonMark, but HTML is shown as text."""
    return _markdown(text, _NO_HTML)


def discord(text: str) -> str:
    """As CommonMark, but there are no entities."""
    return _markdown(text, _NO_ENTITIES)


def _markdown(text: str, parser: MarkdownIt) -> str:
    tokens = parser.parse(text)
    assert not any(token.type == "html_block" for token in tokens), "HTML"
    for token in tokens:
        if token.type == "fence":
            lines = text.split("\n")[token.map[0] : token.map[1]]  # type: ignore[index]
            assert len(lines) > 1, "a fence is left open"
            assert lines[-1].strip("> ").startswith("```"), "a fence is left open"
    return _shown(SyntaxTreeNode(tokens)).replace("\u200b", "")


def _shown(node: SyntaxTreeNode) -> str:
    assert node.type != "html_inline", f"HTML: {node.content}"
    if node.type in ("text", "code_inline", "fence", "code_block"):
        return node.content + ("\n" if node.type in ("fence", "code_block") else "")
    if node.type in ("softbreak", "hardbreak"):
        return "\n"
    text = "".join(map(_shown, node.children))
    if node.type == "link":
        assert _SAFE.match(str(node.attrs["href"])), node.attrs
    return text if node.type in ("strong", "em", "s", "link", "inline", "image") else text + "\n"


_TEXT_BLOCK = ["image", "heading", "hr", "code", "reference", "lheading", "html_block", "fence", "blockquote"]
"""What Microsoft's own cards switch off in this parser
(https://github.com/OfficeDev/microsoft-teams-apps-company-communicator)."""
_DESKTOP = MarkdownIt("commonmark", {"html": False}).disable(_TEXT_BLOCK)
_SPARSE = MarkdownIt("commonmark", {"html": False}).disable([*_TEXT_BLOCK, "entity", "backticks", "autolink"])


def card(text: str) -> str:
    """https://adaptivecards.io/explorer: what clients show that read more Markdown, and such that read less."""
    return "\n".join(_element(each) for each in json.loads(text))


def _element(element: dict[str, object]) -> str:
    if element["type"] == "Container":
        assert set(element) == {"type", "style", "items"}
        assert isinstance(element["items"], list)
        assert element["items"], "an empty container"
        return "\n".join(map(_element, element["items"]))
    assert element["type"] == "TextBlock", element["type"]
    assert set(element) <= {"type", "text", "wrap", "fontType", "spacing", "size", "weight"}, element
    text = str(element["text"])
    assert text.strip(" \n"), "an empty TextBlock"
    if element.get("fontType") == "Monospace":
        assert "\n" not in text, "a line end in code"
        assert not re.search(r"^\s| {2}", text), "spaces that are not shown"
    seen = [
        _shown(SyntaxTreeNode(parser.parse(text))).replace("\u200b", "") for parser in (_DESKTOP, _SPARSE)
    ]
    assert seen[0] == seen[1], "clients differ"
    return seen[0].replace("\u00a0", " ")


READERS: dict[Markup, Callable[[str], str]] = {
    Markup.MRKDWN: mrkdwn,
    Markup.TELEGRAM_HTML: telegram_html,
    Markup.TELEGRAM_MARKDOWNV2: telegram_markdownv2,
    Markup.TELEGRAM_MARKDOWN: telegram_markdown,
    Markup.DISCORD: discord,
    Markup.WHATSAPP: whatsapp,
    Markup.MATTERMOST: mattermost,
    Markup.TEAMS: teams,
    Markup.CARD: card,
    Markup.EMAIL: mail,
    Markup.PLAIN: str,
}
"""What a person sees of each markup."""
assert set(READERS) == set(Markup), "a markup without a reader"
