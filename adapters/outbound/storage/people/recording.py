"""Follows the inbox and gives each sender of a conversation a person. Messages wait for none of it."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from psycopg import Rollback

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.codec import dump, key_of, storable
from adapters.outbound.storage.conversations.erasure import is_erased
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.statements import read_statements
from domain.channels.messages import Identity, Sender
from domain.limits import LABELS
from domain.people.model import SeenSender, StoredSender
from domain.verification.model import normal

SQL = read_statements(Path(__file__).with_name("people.sql"), most_labels=LABELS)

BATCH = 1000
"""Events that one statement looks through."""
ROUND_SECONDS = 2.0
"""Between two rounds, of whichever process."""
SLACK_SECONDS = 5.0
"""Longer than a statement takes that stores events. Younger ones are looked at again by the next round."""
FRESH_SECONDS = 60.0
"""How exact it is when a known sender wrote last."""
CERTAIN = 2
"""Evidence from which on a sender has been seen before, in the same conversation or another one of the instance."""


class _Candidate(NamedTuple):
    """A person who may have a sender; see the statement `people_of_sender`."""

    id: int
    evidence: int
    was_split: bool


def identity_key(identity: Identity) -> str:
    """The comparable form of an identity, short enough for an index."""
    return f"{key_of(identity.field)}:{key_of(normal(identity))}"


class PostgresSeenSenders:
    """`ports.persons.SeenSenders`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self) -> int | None:
        position: int | None = await self._database.fetch_value(SQL["claim_round"], {"pause": ROUND_SECONDS})
        return position

    async def following(self, position: int) -> tuple[Sequence[StoredSender], int | None, int | None]:
        parameters = {"position": position, "count": BATCH, "slack": SLACK_SECONDS, "fresh": FRESH_SECONDS}
        rows = await self._database.fetch(SQL["next_events"], parameters)
        latest: dict[tuple[int, str, str], StoredSender] = {}
        known: list[tuple[int, str, str, datetime]] = []
        settled, is_settled = None, True
        for id, instance_id, owner, channel_id, session_key, at, sender, sender_key, is_old in rows:
            is_settled = is_settled and is_old
            settled = id if is_settled else settled
            if sender_key is not None:
                known.append((instance_id, session_key, sender_key, at))
            elif sender is not None and channel_id is not None:
                latest[instance_id, session_key, sender] = StoredSender(
                    id, instance_id, session_key, channel_id, owner, at
                )
        await self._see(known)
        following = rows[-1][0] if len(rows) == BATCH else None
        return [*latest.values()], settled, following

    async def _see(self, known: Sequence[tuple[int, str, str, datetime]]) -> None:
        """Notes when known senders wrote."""
        if known:
            instances, sessions, senders, times = zip(*known, strict=True)
            columns = {
                "instances": Bigints(instances),
                "sessions": Texts(sessions),
                "senders": Texts(senders),
            }
            await self._database.execute(SQL["see_senders"], {**columns, "times": list(times)})

    async def advance(self, position: int) -> None:
        await self._database.execute(SQL["advance"], {"position": position})

    @retried
    async def record(self, seen: SeenSender) -> None:
        stored, keys = seen.stored, [identity_key(identity) for identity in seen.sender.identities]
        parameters = {
            "instance": stored.instance_id,
            "session": stored.session_key,
            "sender": key_of(seen.sender.external_id),
            "owner": stored.owner,
            "session_id": storable(seen.session_id),
            "sender_id": storable(seen.sender.external_id),
            "name": storable(seen.sender.display_name),
            "language": storable(seen.language) if seen.language else None,
            "document": dump([[identity.field, identity.value] for identity in seen.sender.identities]),
            "identities": keys or None,
            "user": seen.user_id,
            "profile": _profile(seen.sender),
            "beginning": dump({"session": seen.session_id, "sender": seen.sender.external_id})[:-1],
            "at": stored.at,
        }
        async with self._database.transaction() as connection:
            for name in ("write_later", "lock_people"):
                await connection.execute(SQL[name])
            rows = await (await connection.execute(SQL["people_of_sender"], parameters)).fetchall()
            person = await self._person(connection, [_Candidate(*row) for row in rows], parameters)
            await connection.execute(SQL["save_sender"], {**parameters, "person": person})
            await connection.execute(SQL["refresh"], {"people": [person]})
            # Last, as it holds up the answer to the message.
            if await is_erased(connection, stored.inbox_id):
                raise Rollback

    async def _person(
        self, connection: Connection, candidates: Sequence[_Candidate], parameters: dict[str, object]
    ) -> int:
        """The person of a sender: joined with others that have an identity or the user too, unless one of them was
        split by hand."""
        if not candidates:
            [row] = await (await connection.execute(SQL["add_person"], parameters)).fetchall()
            return int(row[0])
        first = candidates[0]
        others = {other.id for other in candidates if other.evidence < CERTAIN and not other.was_split}
        others.discard(first.id)
        if not others or first.was_split:
            return first.id
        return await join(connection, first.id, sorted(others))


def _profile(sender: Sender) -> str:
    """What a stored event holds of the sender's name and identities, which stand side by side there."""
    identities = [[identity.field, identity.value] for identity in sender.identities]
    fields = {"name": sender.display_name, "identities": identities}
    return dump({name: value for name, value in fields.items() if value})[1:-1]


async def join(connection: Connection, person_id: int, others: Sequence[int]) -> int:
    """Gives the senders of other people to a person, with their labels; and a name and language that were set by
    hand, where the person has none. Part of a transaction that holds the lock on people."""
    parameters = {"person": person_id, "others": list(others)}
    for name in ("inherit", "give_senders", "move_exports"):
        await connection.execute(SQL[name], parameters)
    await connection.execute(SQL["refresh"], {"people": [person_id, *others]})
    return person_id
