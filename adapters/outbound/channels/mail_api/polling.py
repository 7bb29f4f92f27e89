"""Where a poll stands in the mailbox's history, and what it finds from there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.mail_api.gmail import Gmail, words_of
from adapters.outbound.channels.mail_api.messages import (
    MimePart,
    event_of,
    from_base64url,
    ignored_for,
    is_incoming,
    missing_text,
    parts_of,
)
from adapters.outbound.oauth.google_api import is_rate_limit
from adapters.outbound.oauth.tokens import TokenRefused, TokenUnavailable
from domain.channels.messages import Config, Event
from ports.channels import Polled, PollFailed
from ports.http import HttpAnswer, HttpFailed

DEFAULT_WAIT = 60.0
"""Seconds to wait after a rate limit that names none."""
OVERLAP_MS = 3_600_000
"""How far before the last good poll a search for missed mail reaches; what was taken is dropped again."""
AHEAD_MS = 60_000
"""How far Google's clock may be ahead of ours."""
_DAY_MS = 86_400_000
_GONE = frozenset({400, 404, 410})
"""Answers for a single mail that cannot be had any more: it must not hold up the others."""


@dataclass(frozen=True, slots=True)
class Position:
    """The cursor. `history_id`: everything before it is taken. `page`: the next page of the list that is
    being read; with `searching` that list is a search, made because the history was too old or nothing was read
    yet. Mail from before `since` is not ours; `good` is when a poll last came to its end (both in epoch
    milliseconds). `grant` names the credentials with which all this was learnt."""

    history_id: str
    address: str
    since: int
    good: int
    grant: str
    page: str = ""
    searching: bool = False

    @classmethod
    def load(cls, cursor: Mapping[str, Any]) -> Position:
        return cls(
            history_id=str(cursor["historyId"]),
            address=str(cursor["address"]),
            since=int(cursor["since"]),
            good=int(cursor["good"]),
            grant=str(cursor.get("grant", "")),
            page=str(cursor.get("page", "")),
            searching=bool(cursor.get("searching", False)),
        )

    def dump(self) -> dict[str, Any]:
        return {
            "historyId": self.history_id,
            "address": self.address,
            "since": self.since,
            "good": self.good,
            "grant": self.grant,
            "page": self.page,
            "searching": self.searching,
        }


class Poller:
    """One step through the history; a long way is several steps, told by `Polled.more`."""

    def __init__(self, gmail: Gmail) -> None:
        self._gmail = gmail

    async def step(
        self, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        """The first step notes the position; then what came between `since` and there is searched for.

        Raises `PollFailed`.
        """
        at_ms = int(now.timestamp() * 1000)
        try:
            if cursor is None:
                created = int(since.timestamp() * 1000)
                begun = replace(await self._present(config, created, created), searching=True)
                return Polled((), begun.dump(), more=True)
            position = Position.load(cursor)
            if position.grant != _grant(config):
                return await self._regranted(config, position, at_ms)
            if position.searching:
                return await self._search(config, position, at_ms)
            return await self._history(config, position, at_ms)
        except TokenRefused as failure:
            raise PollFailed(f"Google no longer takes the credentials: {failure}", fatal=True) from failure
        except TokenUnavailable as failure:
            raise PollFailed(str(failure), retry_after=failure.retry_after) from failure
        except HttpFailed as failure:
            raise PollFailed(f"Gmail cannot be reached: {failure}") from failure

    async def _present(self, config: Config, since: int, good: int) -> Position:
        profile = checked(await self._gmail.profile(config)).json()
        history_id, address = text(profile, "historyId"), text(profile, "emailAddress")
        if not history_id:
            raise PollFailed("Gmail's profile has no historyId")
        return Position(history_id, address, since, good, _grant(config))

    async def _regranted(self, config: Config, position: Position, at_ms: int) -> Polled:
        """Other credentials: of the same mailbox the position holds, of another one watching begins now."""
        fresh = await self._present(config, at_ms, at_ms)
        if fresh.address == position.address:
            return Polled((), replace(position, grant=fresh.grant).dump(), more=True)
        return Polled((), fresh.dump())

    async def _history(self, config: Config, position: Position, at_ms: int) -> Polled:
        answer = await self._gmail.history(config, position.history_id, position.page)
        if answer.status == 404:
            return await self._lost(config, position)
        if answer.status == 400 and position.page:
            return Polled((), replace(position, page="").dump(), more=True)
        body = checked(answer).json()
        ids = [
            text(added, "message", "id")
            for record in items(body, "history")
            for added in items(record, "messagesAdded")
        ]
        events = await self._read(config, position, ids)
        page = text(body, "nextPageToken")
        if page:
            return Polled(events, replace(position, page=page).dump(), more=True)
        done = replace(
            position, page="", history_id=text(body, "historyId") or position.history_id, good=at_ms
        )
        return Polled(events, done.dump())

    async def _lost(self, config: Config, position: Position) -> Polled:
        """The history from our position is gone: a new position first, then a search for what was missed."""
        fresh = await self._present(config, position.since, position.good)
        return Polled((), replace(fresh, searching=True).dump(), more=True)

    async def _search(self, config: Config, position: Position, at_ms: int) -> Polled:
        after = max(position.since, position.good - OVERLAP_MS)
        days = (at_ms - after) // _DAY_MS + 1
        answer = await self._gmail.search(config, f"newer_than:{days}d in:inbox", position.page)
        if answer.status == 400 and position.page:
            return Polled((), replace(position, page="").dump(), more=True)
        body = checked(answer).json()
        ids = [text(each, "id") for each in items(body, "messages")]
        first = position.good == position.since  # of what was there before, nothing may pass for new
        until = at_ms + AHEAD_MS if first else None
        events = await self._read(config, position, ids[::-1], after, until)
        page = text(body, "nextPageToken")
        if page:
            return Polled(events, replace(position, page=page).dump(), more=True)
        done = replace(position, page="", searching=False, good=at_ms)
        return Polled(events, done.dump())

    async def _read(
        self,
        config: Config,
        position: Position,
        ids: Sequence[str],
        after: int = 0,
        until: int | None = None,
    ) -> list[Event]:
        """The mails that arrived in that span (epoch milliseconds) and are to be answered."""
        events: list[Event] = []
        for message_id in dict.fromkeys(filter(None, ids)):
            answer = await self._gmail.message(config, message_id)
            if answer.status in _GONE:
                continue
            message = checked(answer).json()
            if not isinstance(message, dict) or not is_incoming(message):
                continue
            arrived = _arrived(message)
            if arrived < after or (until is not None and arrived > until):
                continue
            if ignored_for(message, position.address) is not None:
                continue
            parts = await self._with_long_texts(config, message_id, parts_of(message))
            events.append(event_of(message, parts, position.address))
        return events

    async def _with_long_texts(
        self, config: Config, message_id: str, parts: list[MimePart]
    ) -> list[MimePart]:
        for part in missing_text(parts):
            answer = checked(await self._gmail.attachment(config, message_id, part.attachment_id))
            whole = replace(part, data=from_base64url(text(answer.json(), "data")), attachment_id="")
            parts[parts.index(part)] = whole
        return parts


def _grant(config: Config) -> str:
    """Names the credentials without telling them."""
    secret = f"{config['clientId']}\n{config['refreshToken']}"
    return hashlib.sha256(secret.encode()).hexdigest()[:16]


def _arrived(message: Mapping[str, Any]) -> int:
    stamp = at(message, "internalDate")
    return int(stamp) if str(stamp).isdigit() else 0


def checked(answer: HttpAnswer) -> HttpAnswer:
    """A good answer. Raises `PollFailed` in Gmail's own words."""
    if answer.ok:
        return answer
    wait = answer.retry_after
    if is_rate_limit(answer) and wait is None:
        wait = DEFAULT_WAIT
    raise PollFailed(words_of(answer), retry_after=wait)
