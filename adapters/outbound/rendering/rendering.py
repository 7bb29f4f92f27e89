"""Renders Markdown in a platform's markup, in messages that are well formed each on its own."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.outbound.rendering.composing import compose
from adapters.outbound.rendering.dialect import Dialect, has
from adapters.outbound.rendering.dialects.discord import Discord
from adapters.outbound.rendering.dialects.mattermost import Mattermost
from adapters.outbound.rendering.dialects.mrkdwn import Mrkdwn
from adapters.outbound.rendering.dialects.plain import Plain
from adapters.outbound.rendering.dialects.teams import Teams
from adapters.outbound.rendering.dialects.telegram_html import TelegramHtml
from adapters.outbound.rendering.dialects.telegram_markdownv2 import TelegramMarkdownV2
from adapters.outbound.rendering.dialects.whatsapp import WhatsApp
from adapters.outbound.rendering.email import render_email
from adapters.outbound.rendering.flow import Flow, Kind
from adapters.outbound.rendering.model import Markup, Rendered
from adapters.outbound.rendering.parsing import parsed
from adapters.outbound.rendering.writing import write
from domain.channels.model import TextLimit
from domain.routing.cutting import Break, Cutter, breaks_of

_PLAIN = Plain()
_DIALECTS: dict[Markup, Dialect] = {
    Markup.MRKDWN: Mrkdwn(),
    Markup.TELEGRAM_HTML: TelegramHtml(),
    Markup.TELEGRAM_MARKDOWNV2: TelegramMarkdownV2(),
    Markup.DISCORD: Discord(),
    Markup.WHATSAPP: WhatsApp(),
    Markup.MATTERMOST: Mattermost(),
    Markup.TEAMS: Teams(),
    Markup.PLAIN: _PLAIN,
}
_LONGEST_ADDRESS = 2000
"""Characters of a link's address; a longer one is shown as text, and cut like any other."""


def render(markup: Markup, markdown: str, limit: TextLimit | None) -> list[Rendered]:
    """A Markdown text as messages in `markup`, each within `limit` as the platform counts.

    None for a text without anything to see. E-mail is one message whatever the limit.
    """
    if markup is Markup.EMAIL:
        return render_email(markdown)
    dialect = _DIALECTS[markup]
    longest_address = min(_LONGEST_ADDRESS, limit.size // 4) if limit else _LONGEST_ADDRESS
    flow = compose(parsed(markdown), dialect, longest_address)
    return list(_messages(flow, dialect, limit))


def _messages(flow: Flow, dialect: Dialect, limit: TextLimit | None) -> Iterator[Rendered]:
    if limit is None:
        end = len(flow.text.rstrip())
        if end:
            yield _message(flow, 0, end, dialect)
        return

    def fits(start: int, end: int) -> bool:
        message = _message(flow, start, end, dialect)
        return dialect.length(message.text, message.plain, limit.unit) <= limit.size

    cutter = Cutter(flow.text, _breaks(flow), fits, limit.size)
    for start, end in cutter.pieces():
        yield _message(flow, start, end, dialect)


def _message(flow: Flow, start: int, end: int, dialect: Dialect) -> Rendered:
    text = write(flow, start, end, dialect)
    return Rendered(text, text if dialect is _PLAIN else write(flow, start, end, _PLAIN))


def _breaks(flow: Flow) -> Iterator[Break]:
    """Where the flow may be cut: not within list markers, and in a table only between rows."""
    for each in breaks_of(flow.text):
        run = flow.run_at(each.end)
        if run is None or run.structure:
            continue
        rank = each.rank.in_code if has(run.spans, Kind.PRE, Kind.TABLE) else each.rank
        yield Break(each.end, each.start, rank)
