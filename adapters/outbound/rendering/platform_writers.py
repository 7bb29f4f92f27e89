"""Markup of platforms: Markdown (Discord, Mattermost, Teams), Slack's mrkdwn
(https://docs.slack.dev/messaging/formatting-message-text), plain text (SMS, fallback of all others), WhatsApp,
Telegram's three (https://core.telegram.org/bots/api#formatting-options)."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import ClassVar

from adapters.outbound.rendering.markup_writer import (
    ZERO_WIDTH,
    Layout,
    MarkupWriter,
    Tables,
    between_fences,
    broken_fences,
    code_block_alone,
    marks_of,
    outside_addresses,
    outside_code,
    unmarked,
)
from adapters.outbound.rendering.parsing import shown
from adapters.outbound.rendering.styled_text import LONGEST_FENCE, VERBATIM, Kind, Run, Span, Spans, has
from domain.channels.model import TextLimit, Unit

_LINE_START = re.compile(
    r"^([^\S\n]*)(#{1,6}(?=[^\S\n])|>|[-+](?=\s|(?:-|[^\S\n])*$)|-#|~{3}|-{3})", re.MULTILINE
)
_UNDERLINE = re.compile(r"^(?=[^\S\n]*=+[^\S\n]*$)", re.MULTILINE)
_NUMBER = re.compile(r"^([^\S\n]*\d{1,9})([.)])(?=\s|$)", re.MULTILINE)
_LONG_ROW = re.compile(f"`{{{LONGEST_FENCE - 1}}}(?=`)")
_IN_ADDRESS = re.compile(r"([()\\<>])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_EVERYBODY = re.compile(r"@(?=(?:all|channel|here)\b)", re.IGNORECASE)
_BACKSLASH = re.compile(r"\\(?!\w)")
UNDERSCORE = (re.compile(r"_(?:(?<![^\W_]_)|(?![^\W_]))"), r"\\_")
"""One that is not inside a word, and its escape."""


def escapes(characters: str) -> Mapping[int, str]:
    """A backslash before each of the characters, for `str.translate`."""
    return str.maketrans({character: f"\\{character}" for character in characters})


class MarkdownWriter(MarkupWriter):
    """Markdown out of Markdown: `special` characters are escaped anywhere in a text, those of `at_edge` where they
    match."""

    special: ClassVar[Mapping[int, str]]
    at_edge: ClassVar[Sequence[tuple[re.Pattern[str], str]]] = (UNDERSCORE,)

    def open(self, span: Span, *, again: bool) -> str:
        match span.kind:
            case Kind.LINK:
                return "["
            case Kind.PRE:
                return f"{self.fence(span)}{span.value}\n{span.header if again else ''}"
            case Kind.HEADING:
                return "#" * int(span.value) + " "
            case Kind.TABLE:
                return span.header if again else ""
            case _:
                return self.mark(span)

    def close(self, span: Span, *, done: bool) -> str:
        match span.kind:
            case Kind.LINK:
                return "](" + _IN_ADDRESS.sub(r"\\\1", span.value) + ")"
            case Kind.PRE:
                return f"\n{self.fence(span)}"
            case _:
                return self.mark(span)[::-1]

    def mark(self, span: Span) -> str:
        """What stands before an inline span, and reversed after it."""
        match span.kind:
            case Kind.BOLD:
                return "**"
            case Kind.ITALIC:
                return "*" if span.tight else "_"
            case Kind.STRIKE:
                return "~~"
            case Kind.CODE:
                return span.fence if span.fence == "`" else f"{span.fence} "
            case _:
                return ""

    def fence(self, span: Span) -> str:
        """What stands above and below a code block."""
        return span.fence

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return _LONG_ROW.sub(rf"\g<0>{ZERO_WIDTH}", text)
        if run.structure or has(run.spans, Kind.CODE):
            return text
        in_link = has(run.spans, Kind.LINK)
        escaped = self.escape(text) if in_link else outside_addresses(text, self.escape)
        if not line_start:
            return escaped
        escaped = _UNDERLINE.sub(ZERO_WIDTH, escaped)
        return _NUMBER.sub(r"\1\\\2", _LINE_START.sub(r"\1\\\2", escaped))

    def escape(self, text: str) -> str:
        """A text in which nothing is markup."""
        text = text.translate(self.special)
        for pattern, escaped in self.at_edge:
            text = pattern.sub(escaped, text)
        return text


class Discord(MarkdownWriter):
    """https://support.discord.com/hc/en-us/articles/210298617

    Three levels of headings, one of quotes, no tables; code fences of three backticks alone.
    """

    layout = Layout(bullet="- ", indent=0, heading_levels=3, backtick_in_code=True, mail_links=False)
    special = escapes("\\`*[<")
    at_edge = (UNDERSCORE, (re.compile("~(?=~)"), r"\\~"), (re.compile(r"\|(?=\|)"), r"\\|"))
    nests_quotes = False

    def fence(self, span: Span) -> str:
        return "```"

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return broken_fences(text)
        return super().text(text, run, line_start=line_start)


class Mattermost(MarkdownWriter):
    """https://docs.mattermost.com/end-user-guide/collaborate/format-messages.html

    Headings, nested quotes and tables as in GitHub's Markdown; nobody is notified by accident.

    Its parser shows HTML as text, and takes a backslash for an escape before some punctuation alone
    (https://github.com/mattermost/marked).
    """

    layout = Layout(
        bullet="- ", indent=0, rule="---", heading_levels=6, tables=Tables.MARKDOWN, backtick_in_code=True
    )
    special = escapes("`*[]|~")

    def escape(self, text: str) -> str:
        return _ENTITY.sub("&amp;", super().escape(_BACKSLASH.sub(r"\\\\", text)))

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        escaped = super().text(text, run, line_start=line_start)
        if has(run.spans, *VERBATIM):
            return escaped.replace("|", "\\|") if has(run.spans, Kind.TABLE) else escaped
        return _EVERYBODY.sub(f"@{ZERO_WIDTH}", escaped)


class Teams(MarkdownWriter):
    """Bot messages (https://learn.microsoft.com/en-us/microsoftteams/platform/bots/how-to/format-your-bot-messages).

    No headings and no tables; a line ends only where a paragraph does; < begins a tag.
    """

    layout = Layout(bullet="- ", indent=0, line_break="\n\n", backtick_in_code=True)
    special = escapes("\\`*[]~")

    def escape(self, text: str) -> str:
        return super().escape(text).replace("&", "&amp;").replace("<", "&lt;")


_QUOTED = re.compile("^(?=&gt;)", re.MULTILINE)


class Mrkdwn(MarkupWriter):
    """No nesting in code or links; line ends end emphasis; & < > are escaped as entities."""

    marks: ClassVar = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~", Kind.CODE: "`"}
    nests_quotes = False

    def supported(self, run: Run) -> Spans:
        if has(run.spans, Kind.PRE):
            return code_block_alone(run.spans)
        if has(run.spans, Kind.LINK):
            return tuple(span for span in run.spans if span.kind is not Kind.CODE)
        return outside_code(run.spans)

    def open(self, span: Span, *, again: bool) -> str:
        if span.kind is Kind.LINK:
            address = span.value.replace("|", "%7C").replace(">", "%3E").replace("<", "%3C")
            return f"<{_entities(address)}|"
        if span.kind is Kind.PRE:
            return "```\n" + (_entities(span.header) if again else "")
        mark = super().open(span, again=again)
        return ZERO_WIDTH + mark if mark and span.tight else mark

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return ">"
        if span.kind is Kind.PRE:
            return "\n```"
        mark = super().close(span, done=done)
        return mark + ZERO_WIDTH if mark and span.tight else mark

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return _entities(broken_fences(text))
        if has(run.spans, Kind.CODE):
            return _entities(text)
        escaped = _entities(unmarked(text, marks_of(run.spans, self.marks)))
        return _QUOTED.sub(ZERO_WIDTH, escaped) if line_start and not run.structure else escaped


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class Plain(MarkupWriter):
    """Nothing but text; the address of a link follows it in brackets."""

    layout = Layout(bullet="- ", indent=2, rule="----------", tables=Tables.LINES)

    def close(self, span: Span, *, done: bool) -> str:
        is_seen = span.kind is not Kind.LINK or span.bare
        return "" if is_seen or not done else f" ({shown(span.value)})"


class WhatsApp(Plain):
    """The Cloud API and linked devices (https://faq.whatsapp.com/539178204879377).

    Emphasis, code and quotes; there are no links with a text of their own, and no escapes.
    """

    layout = Layout(bullet="- ", indent=2, table_width=36)
    marks: ClassVar = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~", Kind.CODE: "`", Kind.PRE: "```"}
    nests_quotes = False

    def supported(self, run: Run) -> Spans:
        if has(run.spans, Kind.PRE):
            return code_block_alone(run.spans)
        return tuple(span for span in outside_code(run.spans) if not span.tight)

    def open(self, span: Span, *, again: bool) -> str:
        return super().open(span, again=again) + (span.header if again else "")

    def close(self, span: Span, *, done: bool) -> str:
        return self.marks.get(span.kind) or super().close(span, done=done)

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        if has(run.spans, Kind.PRE):
            return between_fences(text)
        return text if has(run.spans, Kind.CODE) else unmarked(text, marks_of(run.spans, self.marks))


_LONGEST_SOURCE = TextLimit(30_000, Unit.BYTES)
"""The markup of one message: the servers cut what is longer than 35,000 before they parse it."""
_TAGS = {Kind.BOLD: "b", Kind.ITALIC: "i", Kind.STRIKE: "s", Kind.CODE: "code", Kind.QUOTE: "blockquote"}
_BY_WEIGHT = (Kind.PRE, Kind.CODE, Kind.LINK, Kind.BOLD, Kind.ITALIC)
_SPECIAL = escapes("_*`[")
_SPECIAL_V2 = escapes("_*[]()~`>#+-=|{}.!\\")
_IN_CODE = escapes("`\\")
_IN_ADDRESS_V2 = escapes(")\\")
_BRACKETS = str.maketrans("[]", "()")


class _Telegram(MarkupWriter):
    """Code cannot be nested with other entities; lengths are those of the text after parsing."""

    layout = Layout(backtick_in_code=True, mail_links=False)
    quote_prefix = ""
    nests_quotes = False

    def supported(self, run: Run) -> Spans:
        spans = outside_code(run.spans)
        if has(spans, Kind.LINK):
            spans = tuple(span for span in spans if span.kind is not Kind.CODE)
        first_quote = next((span for span in spans if span.kind is Kind.QUOTE), None)
        return tuple(span for span in spans if span.kind is not Kind.QUOTE or span is first_quote)

    def source_limit(self, limit: TextLimit) -> TextLimit:
        return _LONGEST_SOURCE


class TelegramHtml(_Telegram):
    """The tags that the Bot API knows, and no others (#html-style)."""

    def open(self, span: Span, *, again: bool) -> str:
        if span.kind is Kind.LINK:
            return f'<a href="{escape(span.value)}">'
        if span.kind is Kind.PRE:
            language = f'<code class="language-{escape(span.value)}">' if span.value else ""
            return f"<pre>{language}{escape(span.header) if again else ''}"
        return f"<{_TAGS[span.kind]}>"

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return "</a>"
        if span.kind is Kind.PRE:
            return "</code></pre>" if span.value else "</pre>"
        return f"</{_TAGS[span.kind]}>"

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        return escape(text, quote=False)


class TelegramMarkdown(_Telegram):
    """The first Markdown (#markdown-style), kept for older bots.

    One entity at a time: nothing is nested, and nothing is escaped inside an entity.
    """

    layout = Layout(mail_links=False)
    marks: ClassVar = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.CODE: "`", Kind.PRE: "```"}

    def supported(self, run: Run) -> Spans:
        for kind in _BY_WEIGHT:
            for span in run.spans:
                if span.kind is kind:
                    return (span,)
        return ()

    def open(self, span: Span, *, again: bool) -> str:
        if span.kind is Kind.LINK:
            return "["
        if span.kind is Kind.PRE:
            return f"```{span.value}\n{span.header if again else ''}"
        return self.marks[span.kind]

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return f"]({span.value.replace(')', '%29')})"
        return self.marks[span.kind]

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        supported = self.supported(run)
        if not supported:
            return text.translate(_SPECIAL)
        kind = supported[0].kind
        if kind is Kind.PRE:
            return between_fences(text)
        if kind is Kind.LINK:
            return text.translate(_BRACKETS)
        if kind is Kind.CODE:
            return text
        mark = self.marks[kind]
        return text.replace(mark, f"{mark}\\{mark}{mark}")


class TelegramMarkdownV2(_Telegram):
    """Every special character is escaped, whether it would mean something or not (#markdownv2-style)."""

    marks: ClassVar = {Kind.BOLD: "*", Kind.ITALIC: "_", Kind.STRIKE: "~", Kind.CODE: "`", Kind.PRE: "```"}
    quote_prefix = ">"

    def supported(self, run: Run) -> Spans:
        return code_block_alone(super().supported(run))

    def open(self, span: Span, *, again: bool) -> str:
        if span.kind is Kind.LINK:
            return "["
        if span.kind is Kind.PRE:
            header = span.header.translate(_IN_CODE) if again else ""
            return f"```{span.value}\n{header}"
        return super().open(span, again=again)

    def close(self, span: Span, *, done: bool) -> str:
        if span.kind is Kind.LINK:
            return "](" + span.value.translate(_IN_ADDRESS_V2) + ")"
        return super().close(span, done=done)

    def text(self, text: str, run: Run, *, line_start: bool) -> str:
        return text.translate(_IN_CODE if has(run.spans, *VERBATIM) else _SPECIAL_V2)
