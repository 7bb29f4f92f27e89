"""Votes on answers in PostgreSQL, one of each person for an answer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from adapters.outbound.storage.codec import dump, key_of, provenance_from_document, storable, stored_event
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import read_statements
from domain.conversations.model import answer_to
from domain.feedback.model import Feedback, Press, Rating, Voter
from domain.paging import Page, cursor_of, read_cursor

SQL = read_statements(Path(__file__).with_suffix(".sql"))
STORED = {Rating.UP: 1, Rating.DOWN: -1}
"""By column `rating`."""
RATINGS = {number: rating for rating, number in STORED.items()}
PAGE_CHARACTERS = 1_000_000
"""Of the stored messages of a page together, but for the first: gRPC clients take answers of 4 MB by default."""


class PostgresFeedback:
    """`ports.conversations.FeedbackStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def vote(self, instance_id: int, press: Press, voter: Voter) -> bool:
        # As `content_of` has it; no text has these quotes.
        about = {"inbox_id": press.inbox_id, "proof": f'"thumbs":{dump(press.reference)}'}
        return await self._vote("vote_by_press", instance_id, press.rating, voter, about)

    async def vote_on(self, instance_id: int, ref: str, rating: Rating, voter: Voter) -> bool:
        about = {"ref": storable(ref), "proof": ""}
        return await self._vote("vote_by_reaction", instance_id, rating, voter, about)

    async def _vote(
        self, statement: str, instance_id: int, rating: Rating, voter: Voter, about: Mapping[str, object]
    ) -> bool:
        sender = {"externalId": voter.external_id, "displayName": voter.display_name}
        parameters = {
            **about,
            "instance": instance_id,
            "sender_key": key_of(voter.external_id),
            "sender": storable(voter.external_id),
            "name": storable(voter.display_name),
            "rating": STORED[rating],
            "data": dump({"rating": rating, "sender": sender}),
        }
        return bool(await self._database.fetch_value(SQL[statement], parameters))

    async def list(
        self, names: Mapping[int, str], rating: Rating | None, limit: int, cursor: str | None
    ) -> Page[Feedback, str]:
        position = read_cursor(cursor, int)
        statement = SQL["list_feedback"].format(condition="AND rating = %(rating)s" if rating else "")
        parameters: dict[str, Any] = {
            "instances": list(names),
            "before": position[0] if position else 2**63 - 1,
            "count": limit + 1,
            "rating": STORED[rating] if rating else None,
        }
        rows = await self._database.fetch(statement, parameters)
        page = rows[: _fitting(rows[:limit])]
        votes = [_feedback(names, *row) for row in page if row[-1] is not None]
        return Page(votes, cursor_of(page[-1][0]) if len(rows) > len(page) else None)


def _fitting(rows: list[tuple[Any, ...]]) -> int:
    """How many of the first rows make a page of a bounded size; at least one."""
    size = 0
    for number, row in enumerate(rows):
        size += len(row[-2] or "") + len(row[-1] or "")
        if number and size > PAGE_CHARACTERS:
            return number
    return len(rows)


def _feedback(
    names: Mapping[int, str],
    id: int,
    instance_id: int,
    inbox_id: int,
    rating: int,
    sender: str,
    name: str,
    at: Any,
    stored: str,
    answer: str,
) -> Feedback:
    event, content = stored_event(stored), orjson.loads(answer)
    provenance = provenance_from_document(content)
    return Feedback(
        id,
        instance_id,
        names[instance_id],
        event.session_id,
        str(answer_to(inbox_id)),
        RATINGS[rating],
        Voter(sender, name),
        at,
        event.text,
        content.get("text", ""),
        provenance.resource if provenance else None,
        provenance.way or None if provenance else None,
        provenance.citations if provenance else (),
    )
