"""Renders Markdown in a platform's markup, in messages that are well formed each on its own; of a text that grows,
finished blocks are rendered once."""

import re
from collections.abc import Iterator

from adapters.outbound.rendering.cards import render_cards
from adapters.outbound.rendering.composing import compose, verbatim
from adapters.outbound.rendering.cutting import as_written, measure
from adapters.outbound.rendering.email import render_email
from adapters.outbound.rendering.markup_writer import MarkupWriter
from adapters.outbound.rendering.model import Markup, Rendered
from adapters.outbound.rendering.parsing import parsed
from adapters.outbound.rendering.platform_writers import (
    Discord,
    Mattermost,
    Mrkdwn,
    Plain,
    Teams,
    TelegramHtml,
    TelegramMarkdown,
    TelegramMarkdownV2,
    WhatsApp,
)
from adapters.outbound.rendering.rendered_text import RenderedText
from adapters.outbound.rendering.styled_text import StyledText, pieces
from domain.channels.model import TextLimit, Unit
from domain.rendering import is_read_as_markdown

_PLAIN = Plain()
WRITERS: dict[Markup, MarkupWriter] = {
    Markup.MRKDWN: Mrkdwn(),
    Markup.TELEGRAM_HTML: TelegramHtml(),
    Markup.TELEGRAM_MARKDOWN: TelegramMarkdown(),
    Markup.TELEGRAM_MARKDOWNV2: TelegramMarkdownV2(),
    Markup.DISCORD: Discord(),
    Markup.WHATSAPP: WhatsApp(),
    Markup.MATTERMOST: Mattermost(),
    Markup.TEAMS: Teams(),
    Markup.PLAIN: _PLAIN,
}
_LEAST_FOR_MARKUP = 300
"""A limit under which there is no room to spare for markup: the text goes without."""

WORDS = re.compile(r"[^\W\d_](?:[^\W_]|[ ,;'\"?()!-]|[.:](?= |$))*(?<! )")
"""A paragraph that means the same with and without Markdown: no line ends, no markup, no addresses."""


def render(markup: Markup, markdown: str, limit: TextLimit | None) -> list[Rendered]:
    """Renders Markdown as messages in `markup`, each within `limit` as the platform counts.

    Returns no message for a text of white space alone. E-mail is one message whatever the limit.
    """
    if markup is Markup.EMAIL:
        return render_email(markdown)
    if not markdown.strip():
        return []
    if markup is Markup.CARD:
        return render_cards(markdown, limit)
    writer = WRITERS[markup]
    if not is_read_as_markdown(markdown):
        source_limit = writer.source_limit(limit) if limit else None
        return list(as_written(markdown, limit, writer.escaped, source_limit))
    paragraphs = markdown.rstrip(" \n").split("\n\n")
    if (limit is None or 4 * len(markdown) <= limit.size) and all(map(WORDS.fullmatch, paragraphs)):
        return [Rendered("\n\n".join(map(writer.escaped, paragraphs)), "\n\n".join(paragraphs))]
    return list(_messages(_styled(markdown, writer, limit), writer, limit))


def _styled(markdown: str, writer: MarkupWriter, limit: TextLimit | None) -> StyledText:
    room = limit.size // 4 if limit else None
    bare = limit is not None and limit.size < _LEAST_FOR_MARKUP
    styled = compose(parsed(markdown), writer, 0 if bare else room)
    if not styled.text.strip():
        return verbatim(markdown)
    return styled.bare() if bare else styled


def _messages(styled: StyledText, writer: MarkupWriter, limit: TextLimit | None) -> Iterator[Rendered]:
    if limit is None:
        end = len(styled.text.rstrip())
        text = RenderedText(styled, writer, Unit.CHARACTERS).text(0, end)
        yield Rendered(text, RenderedText(styled, _PLAIN, Unit.CHARACTERS).text(0, end))
        return
    source_limit = writer.source_limit(limit)
    source = RenderedText(styled, writer, source_limit.unit)
    plain = source if writer is _PLAIN else RenderedText(styled, _PLAIN, limit.unit)

    def fits(start: int, end: int) -> bool:
        if plain.length(start, end) > limit.size:
            return False
        return plain is source or source.length(start, end) <= source_limit.size

    for start, end in pieces(styled, fits, limit.size):
        yield Rendered(source.text(start, end), plain.text(start, end))


_NEW_BLOCK = re.compile(r"\n[ \t]*\n(?=[^\s\-*+>\d|`~])")
"""Between a block and a paragraph or heading that does not continue it, as items of a list, quotes and rows do."""
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_GAP = "\n\n"
_LEAST_ROOM = 40
"""What must be left for another block, in the limit's unit."""


class GrowingText:
    """The text shown is that of one message within `limit`; `render` of the whole may join blocks otherwise."""

    def __init__(self, markup: Markup, limit: TextLimit) -> None:
        self._markup = markup
        self._limit = limit
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._source = ""
        self._finished = Rendered("", "")
        self._is_full = False

    def rendered(self, markdown: str) -> Rendered:
        """The beginning of the text; one that does not continue the text before begins anew."""
        if not markdown.startswith(self._source):
            self._begin_anew()
        start = end = len(self._source)
        for boundary in reversed(list(_NEW_BLOCK.finditer(markdown, start))):
            is_within_fence = len(_FENCE.findall(markdown, start, boundary.end())) % 2
            if not is_within_fence:
                end = boundary.end()
                self._finished, self._is_full = self._followed_by(markdown[start:end])
                self._source = markdown[:end]
                break
        return self._followed_by(markdown[end:])[0]

    def _followed_by(self, markdown: str) -> tuple[Rendered, bool]:
        """The finished blocks followed by another one, and whether the message is full."""
        before = self._finished
        gap = _GAP if before.text else ""
        room = self._limit.size - max(self._size(before.text + gap), self._size(before.plain + gap))
        if self._is_full or (before.text and room < _LEAST_ROOM):
            return before, True
        pieces = render(self._markup, markdown, TextLimit(room, self._limit.unit))
        if not pieces:
            return before, False
        shown = Rendered(f"{before.text}{gap}{pieces[0].text}", f"{before.plain}{gap}{pieces[0].plain}")
        return shown, len(pieces) > 1

    def _size(self, text: str) -> int:
        return measure(text, self._limit.unit)
