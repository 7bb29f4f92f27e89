"""Renders Markdown in a platform's markup, in messages that are well formed each on its own."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.outbound.rendering.cards import render_cards
from adapters.outbound.rendering.composing import compose, verbatim
from adapters.outbound.rendering.cuts import breaks
from adapters.outbound.rendering.dialect import MarkupWriter
from adapters.outbound.rendering.dialects.discord import Discord
from adapters.outbound.rendering.dialects.mattermost import Mattermost
from adapters.outbound.rendering.dialects.mrkdwn import Mrkdwn
from adapters.outbound.rendering.dialects.plain import Plain
from adapters.outbound.rendering.dialects.teams import Teams
from adapters.outbound.rendering.dialects.telegram_html import TelegramHtml
from adapters.outbound.rendering.dialects.telegram_markdown import TelegramMarkdown
from adapters.outbound.rendering.dialects.telegram_markdownv2 import TelegramMarkdownV2
from adapters.outbound.rendering.dialects.whatsapp import WhatsApp
from adapters.outbound.rendering.email import render_email
from adapters.outbound.rendering.flow import StyledText
from adapters.outbound.rendering.model import Markup, Rendered
from adapters.outbound.rendering.parsing import parsed
from adapters.outbound.rendering.script import RenderedText
from domain.channels.model import TextLimit, Unit
from domain.routing.cutting import Cutter

_PLAIN = Plain()
_DIALECTS: dict[Markup, MarkupWriter] = {
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


def render(markup: Markup, markdown: str, limit: TextLimit | None) -> list[Rendered]:
    """A Markdown text as messages in `markup`, each within `limit` as the platform counts.

    None for a text of white space alone. E-mail is one message whatever the limit.
    """
    if markup is Markup.EMAIL:
        return render_email(markdown)
    if not markdown.strip():
        return []
    if markup is Markup.CARD:
        return render_cards(markdown, limit)
    dialect = _DIALECTS[markup]
    flow = _flow(markdown, dialect, limit)
    if limit is None:
        end = len(flow.text.rstrip())
        return [
            Rendered(*(RenderedText(flow, each, Unit.CHARACTERS).text(0, end) for each in (dialect, _PLAIN)))
        ]
    return list(_messages(flow, dialect, limit))


def _flow(markdown: str, dialect: MarkupWriter, limit: TextLimit | None) -> StyledText:
    room = limit.size // 4 if limit else None
    bare = limit is not None and limit.size < _LEAST_FOR_MARKUP
    flow = compose(parsed(markdown), dialect, 0 if bare else room)
    if not flow.text.strip():
        return verbatim(markdown)
    return flow.bare() if bare else flow


def _messages(flow: StyledText, dialect: MarkupWriter, limit: TextLimit) -> Iterator[Rendered]:
    source_limit = dialect.source_limit(limit)
    source = RenderedText(flow, dialect, source_limit.unit)
    plain = source if dialect is _PLAIN else RenderedText(flow, _PLAIN, limit.unit)

    def fits(start: int, end: int) -> bool:
        if plain.length(start, end) > limit.size:
            return False
        return plain is source or source.length(start, end) <= source_limit.size

    for start, end in Cutter(flow.text, breaks(flow), fits, limit.size).pieces():
        yield Rendered(source.text(start, end), plain.text(start, end))
