"""What visitors see, in PostgreSQL.

Each change takes the next version of its conversation while it holds the conversation's row: versions are committed
in their order, and who has read up to one has missed nothing.
"""

import json
from collections.abc import Callable
from typing import Any

from adapters.outbound.storage.codec import key_of, storable
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import ASYNC_COMMIT
from domain.web_chat.model import ChatMessage, ChatPlace

_BEGUN = """
INSERT INTO web_chat (instance_id, session_key, since, version, touched_at)
SELECT i.id, %(session)s, n.version, n.version, now()
FROM (SELECT id FROM channel_instance WHERE id = %(instance)s) i, (SELECT nextval('web_chat_version') AS version) n
ON CONFLICT (instance_id, session_key) DO UPDATE SET version = nextval('web_chat_version'), {set}
RETURNING id, version
"""
_TOUCHED = """
touched_at = CASE WHEN web_chat.touched_at < now() - interval '1 hour' THEN now() ELSE web_chat.touched_at END
"""
"""Seldom, so that most changes touch no index."""
_KNOWN = f"""
UPDATE web_chat SET version = nextval('web_chat_version'), typing_until = NULL, {_TOUCHED}
WHERE instance_id = %(instance)s AND session_key = %(session)s RETURNING id, version
"""
_INSERT = """
INSERT INTO web_chat_message AS m (web_chat_id, message_key, place, version, at, draft, body)
SELECT id, %(key)s, version, version, now(), %(draft)s, %(body)s FROM conversation
ON CONFLICT (web_chat_id, message_key)
"""
_REPLACE = """
DO UPDATE SET version = excluded.version, draft = excluded.draft, body = excluded.body
WHERE (m.draft OR NOT excluded.draft) AND m.body IS NOT NULL
"""
"""A draft never takes the place of what is finished, and what was removed stays so."""

RECEIVE = f"WITH conversation AS ({_BEGUN.format(set=_TOUCHED)}) {_INSERT} DO NOTHING"
WRITE = f"""
WITH conversation AS ({_BEGUN.format(set=f"typing_until = NULL, {_TOUCHED}")}) {_INSERT} {_REPLACE}
"""
CHANGE = f"""
WITH conversation AS ({_KNOWN}), kept AS ({_INSERT} {_REPLACE})
SELECT count(*), CASE WHEN %(draft)s THEN {ASYNC_COMMIT} END FROM conversation
"""
"""A draft that a crash loses comes again, or its answer does."""
REMOVE = f"""
WITH conversation AS ({_KNOWN})
UPDATE web_chat_message m SET version = c.version, draft = false, body = NULL
FROM conversation c WHERE m.web_chat_id = c.id AND m.message_key = %(key)s AND m.body IS NOT NULL
"""
TYPING = f"""
UPDATE web_chat SET typing_until = now() + make_interval(secs => %(seconds)s)
WHERE instance_id = %(instance)s AND session_key = %(session)s AND {ASYNC_COMMIT} IS NOT NULL
"""
"""All by index `web_chat_session` and primary keys."""


class PostgresChatLog:
    """`ports.conversations.ChatLog` and `ChatIntake`. `changed` is told each conversation after its commit."""

    def __init__(self, database: Database, changed: Callable[[str], None]) -> None:
        self._database = database
        self._tell = changed

    def changed(self, place: ChatPlace) -> None:
        """There may be news in a conversation."""
        self._tell(name_of(place))

    async def receive(self, place: ChatPlace, message: ChatMessage) -> None:
        await self._run(RECEIVE, place, _parameters(message))

    async def write(self, place: ChatPlace, message: ChatMessage) -> None:
        await self._run(WRITE, place, _parameters(message))

    async def change(self, place: ChatPlace, message: ChatMessage) -> bool:
        parameters = {**_conversation(place), **_parameters(message)}
        ((count, _),) = await self._database.fetch(CHANGE, parameters)
        self.changed(place)
        return bool(count)

    async def remove(self, place: ChatPlace, message_id: str) -> None:
        await self._run(REMOVE, place, {"key": key_of(message_id)})

    async def typing(self, place: ChatPlace, seconds: float) -> None:
        await self._run(TYPING, place, {"seconds": seconds})

    async def _run(self, statement: str, place: ChatPlace, parameters: dict[str, Any]) -> None:
        await self._database.execute(statement, {**_conversation(place), **parameters})
        self.changed(place)


def name_of(place: ChatPlace) -> str:
    """The name of a conversation in notices between processes."""
    return f"{place.instance_id}:{key_of(place.session_id)}"


def _conversation(place: ChatPlace) -> dict[str, Any]:
    return {"instance": place.instance_id, "session": key_of(place.session_id)}


def _parameters(message: ChatMessage) -> dict[str, Any]:
    body = storable(json.dumps(message.body, ensure_ascii=False, separators=(",", ":")))
    return {"key": key_of(message.id), "draft": message.draft, "body": body}
