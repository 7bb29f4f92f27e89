"""Polls the mailbox: reads its history from the cursor on, and searches for mail where the history is gone."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from anyio import to_thread

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.mail.events import unreadable
from adapters.outbound.net.google import GoogleError, poll_failures
from domain.channels.messages import Event
from domain.channels.typed import JsonModel, stored_as
from ports.capabilities import Polled, PollFailed

from .config import GmailConfig
from .gmail import Gmail, event_of, from_base64url, is_incoming, message_of, parts_of

OVERLAP_MS = 3_600_000
"""How far before the last good poll a search for missed mail reaches; what was taken is dropped again."""
AHEAD_MS = 60_000
"""How far Google's clock may be ahead of ours."""
_DAY_MS = 86_400_000
_GONE = frozenset({400, 404, 410})
"""Answers for a single mail that cannot be had any more: it must not hold up the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The cursor. Everything before `history_id` is taken. `page` is the next page of the list that is being read;
    with `searching` that list is a search, made because the history was too old or nothing was read yet. Mail from
    before `since` is ignored; `good` is when a poll last came to its end (both in epoch milliseconds). `grant`
    identifies the credentials with which the cursor was made."""

    history_id: str = stored_as("historyId")
    address: str = ""
    since: int = 0
    good: int = 0
    grant: str = ""
    page: str = ""
    searching: bool = False

    def polled(self, messages: Sequence[Event] = (), *, more: bool = False) -> Polled:
        events = [message for message in messages if not message.refused]
        unanswered = [message for message in messages if message.refused]
        return Polled(events, POSITION.dump(self), more, unanswered)


POSITION = JsonModel(Position)


class GmailPoller:
    """Makes one step through the history or a search; `Polled.more` asks for the next one."""

    default_interval_minutes = 5.0

    def __init__(self, gmail: Gmail) -> None:
        self._gmail = gmail

    async def poll(
        self, config: GmailConfig, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        """The first step notes the position; then mail that came between `since` and there is searched for.

        Raises `PollFailed`.
        """
        at_ms = int(now.timestamp() * 1000)
        with poll_failures():
            if cursor is None:
                created = int(since.timestamp() * 1000)
                begun = await self._present(config, created, created)
                return replace(begun, searching=True).polled(more=True)
            position = POSITION.load(cursor)
            if position.grant == _grant(config):
                return await self._next(config, position, at_ms)
            # Other credentials: for the same mailbox the position holds, for another one polling begins now.
            fresh = await self._present(config, at_ms, at_ms)
            if fresh.address == position.address:
                return replace(position, grant=fresh.grant).polled(more=True)
            return fresh.polled()

    async def _present(self, config: GmailConfig, since: int, good: int) -> Position:
        profile = await self._gmail.profile(config)
        history_id, address = text(profile, "historyId"), text(profile, "emailAddress")
        if not history_id:
            raise PollFailed("Gmail's profile has no historyId")
        return Position(history_id=history_id, address=address, since=since, good=good, grant=_grant(config))

    async def _next(self, config: GmailConfig, position: Position, at_ms: int) -> Polled:
        after = max(position.since, position.good - OVERLAP_MS)
        days = (at_ms - after) // _DAY_MS + 1
        try:
            if position.searching:
                body = await self._gmail.search(config, f"newer_than:{days}d in:inbox", position.page)
            else:
                body = await self._gmail.history(config, position.history_id, position.page)
        except GoogleError as error:
            return await self._restarted(config, position, error)
        if position.searching:
            ids = [text(message, "id") for message in reversed(items(body, "messages"))]
            is_first = position.good == position.since  # mail dated into the future must not pass for new
            until = at_ms + AHEAD_MS if is_first else None
            done = replace(position, page="", searching=False, good=at_ms)
        else:
            ids = [
                text(added, "message", "id")
                for record in items(body, "history")
                for added in items(record, "messagesAdded")
            ]
            after, until = 0, None
            history_id = text(body, "historyId") or position.history_id
            done = replace(position, page="", history_id=history_id, good=at_ms)
        events = await self._read(config, position, ids, after, until)
        if page := text(body, "nextPageToken"):
            return replace(position, page=page).polled(events, more=True)
        return done.polled(events)

    async def _restarted(self, config: GmailConfig, position: Position, error: GoogleError) -> Polled:
        """From the first page again; if the history is gone, from a new position, with a search before it."""
        if error.status == 404 and not position.searching:
            fresh = await self._present(config, position.since, position.good)
            return replace(fresh, searching=True).polled(more=True)
        if error.status == 400 and position.page:
            return replace(position, page="").polled(more=True)
        raise error

    async def _read(
        self, config: GmailConfig, position: Position, ids: Sequence[str], after: int, until: int | None
    ) -> list[Event]:
        """The mails that arrived in that span (epoch milliseconds)."""
        messages: list[Event] = []
        for message_id in dict.fromkeys(filter(None, ids)):
            try:
                message = await self._gmail.message(config, message_id)
            except GoogleError as error:
                if error.status in _GONE:
                    continue
                raise
            if not is_incoming(message):
                continue
            stamp = at(message, "internalDate")
            arrived = int(stamp) if str(stamp).isdigit() else 0
            if arrived >= after and (until is None or arrived <= until):
                messages.append(await self._event(config, message_id, message, position.address))
        return messages

    async def _event(
        self, config: GmailConfig, message_id: str, shown: Mapping[str, Any], own_address: str
    ) -> Event:
        """The event of a mail, with the texts that are fetched apart. Reads mails in a thread: they may be long."""
        message = message_of(shown)
        for part in parts_of(message):
            if part.is_missing:
                attachment = await self._gmail.attachment(config, message_id, part.attachment_id)
                part.fill(from_base64url(text(attachment, "data")))
        try:
            return await to_thread.run_sync(event_of, config, shown, message, own_address)
        except Exception as failure:  # noqa: BLE001 - whatever it is, one mail must not stop the mailbox
            return unreadable(message_id, failure, {"id": message_id})


def _grant(config: GmailConfig) -> str:
    """Identifies the credentials without containing them."""
    secret = f"{config.client_id}\n{config.refresh_token}"
    return hashlib.sha256(secret.encode()).hexdigest()[:16]
