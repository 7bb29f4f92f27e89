"""Writes what is on record of a person into a ZIP of JSON and files: see docs/people.md."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import orjson

from adapters.outbound.storage.codec import dump_bytes, key_of, stored_event
from adapters.outbound.storage.conversations.messages import PostgresMessages
from adapters.outbound.storage.feedback import RATINGS
from adapters.outbound.storage.people.requests import (
    SQL,
    PostgresPrivacyRequests,
    StoredPersonSender,
    senders_after,
)
from adapters.outbound.storage.people.store import PostgresPeople
from adapters.outbound.storage.pool import Database
from domain.channels.answers import Artifact
from domain.channels.messages import Event
from domain.conversations.model import (
    Direction,
    Message,
    MessageKind,
    MessagesWanted,
    answer_to,
    parse_message_id,
)
from domain.file_names import file_name
from domain.files import one_piece
from domain.paging import LARGEST_LIMIT
from domain.people.model import Person, PrivacyRequest
from domain.people.zip_stream import ZipEntry, zip_stream
from domain.refusals import NotFound
from domain.values import iso_milliseconds
from ports.files import Blobs, StoredBlob
from ports.system import Clock

FORMAT = 1
LARGEST = 2**50
"""Bytes of a ZIP: no bound but that of the disk."""
RESERVED = str.maketrans(dict.fromkeys('<>:"/\\|?*', "_"))
"""What no file name may hold on some system."""

Report = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class _Files:
    """The files of one conversation: their places in the ZIP by their blobs."""

    folder: str
    blobs: Blobs
    places: dict[str, str] = field(default_factory=dict)

    async def place(self, file: Artifact) -> str | None:
        """Returns None if no copy of the file is kept."""
        if file.blob is None:
            return None
        if file.blob not in self.places:
            try:
                await self.blobs.size(file.blob)
            except NotFound:
                return None
            name = file_name(file.name).translate(RESERVED)
            self.places[file.blob] = f"{self.folder}files/{len(self.places) + 1:04}-{name}"
        return self.places[file.blob]


@dataclass(eq=False)
class PersonZip:
    """`ports.persons.PersonExporter`."""

    database: Database
    people: PostgresPeople
    messages: PostgresMessages
    requests: PostgresPrivacyRequests
    blobs: Blobs
    clock: Clock

    async def export(self, request: PrivacyRequest, report: Report) -> None:
        async def attach(blob: StoredBlob) -> None:
            await self.requests.attach(request, blob)

        now = self.clock.now()
        at = (now.year, now.month, now.day, now.hour, now.minute, now.second)
        await self.blobs.put(zip_stream(self._entries(request.person_id, report), at), LARGEST, attach)

    async def _entries(self, person_id: int, report: Report) -> AsyncIterator[ZipEntry]:
        person = await self.people.find(person_id)
        if person is None:
            raise NotFound(f"there is no person {person_id}")
        document = {
            "format": FORMAT,
            "exportedAt": iso_milliseconds(self.clock.now()),
            "person": _person(person),
        }
        yield ZipEntry("person.json", one_piece(dump_bytes(document)))
        number = 0
        async for senders in self._conversations(person_id):
            number += 1
            folder = f"conversations/{number:05}-{senders[0].channel_id}/"
            async for entry in self._conversation(folder, senders):
                yield entry
            await report()

    async def _conversations(self, person_id: int) -> AsyncIterator[Sequence[StoredPersonSender]]:
        """The senders of each conversation."""
        last: StoredPersonSender | None = None
        kept: list[StoredPersonSender] = []
        while senders := await senders_after(self.database, person_id, last):
            last = senders[-1]
            groups = [[*group] for _, group in groupby([*kept, *senders], key=lambda sender: sender[:2])]
            for group in groups[:-1]:
                yield group
            kept = groups[-1]
        if kept:
            yield kept

    async def _conversation(
        self, folder: str, senders: Sequence[StoredPersonSender]
    ) -> AsyncIterator[ZipEntry]:
        files = _Files(folder, self.blobs)
        yield ZipEntry(f"{folder}conversation.json", one_piece(dump_bytes(_conversation(senders))))
        yield ZipEntry(f"{folder}messages.json", _array(self._messages(senders, files)))
        for blob, place in files.places.items():
            yield ZipEntry(place, self.blobs.open(blob))
        for name, rows in (("votes", self._votes(senders)), ("unanswered", self._refused(senders))):
            documents = [document async for document in rows]
            if documents:
                yield ZipEntry(f"{folder}{name}.json", one_piece(dump_bytes(documents)))

    async def _messages(
        self, senders: Sequence[StoredPersonSender], files: _Files
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Of a conversation with others: what the person wrote, and the answers to it."""
        first, cursor = senders[0], None
        own = {sender.sender_key for sender in senders}
        while True:
            window = MessagesWanted(LARGEST_LIMIT, cursor, notes=False)
            page = await self.messages.of_key(first.instance_id, first.session_key, window)
            if page is None:
                return
            events = await self._events(first.instance_id, page.items)
            for message in page.items:
                event = events.get(_event_id(message))
                if not first.is_shared or (event and key_of(event.sender.external_id) in own):
                    yield {
                        **_message(message, event),
                        "files": [{**_file(file), "path": await files.place(file)} for file in message.files],
                    }
            cursor = page.next
            if cursor is None:
                return

    async def _events(self, instance_id: int, messages: Sequence[Message]) -> Mapping[int, Event]:
        ids = {_event_id(message) for message in messages} - {0}
        rows = await self.database.fetch(SQL["events"], {"ids": sorted(ids), "instance": instance_id})
        return {id: stored_event(event) for id, event in rows}

    async def _votes(self, senders: Sequence[StoredPersonSender]) -> AsyncIterator[Mapping[str, Any]]:
        for sender in senders:
            place = {
                "instance": sender.instance_id,
                "session": sender.session_key,
                "sender": sender.sender_key,
            }
            for inbox_id, rating, at in await self.database.fetch(SQL["votes"], place):
                yield {
                    "messageId": str(answer_to(inbox_id)),
                    "rating": RATINGS[rating],
                    "at": iso_milliseconds(at),
                }

    async def _refused(self, senders: Sequence[StoredPersonSender]) -> AsyncIterator[Mapping[str, Any]]:
        """What was not answered, of all conversations in the instance."""
        for sender in senders:
            place = {"instance": sender.instance_id, "document": sender.document}
            for stored, reason, at in await self.database.fetch(SQL["refused"], place):
                event = stored_event(stored)
                files = [{"name": file.name, "mimeType": file.mime_type} for file in event.attachments]
                yield {"text": event.text, "reason": reason, "at": iso_milliseconds(at), "files": files}


async def _array(documents: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[bytes]:
    """A JSON array, one document on each line."""
    separator = b"[\n"
    async for document in documents:
        yield separator + dump_bytes(document)
        separator = b",\n"
    yield b"\n]\n" if separator == b",\n" else b"[]\n"


def _event_id(message: Message) -> int:
    """The row of the event that a message is, or answers; 0 for one that was sent first."""
    id = parse_message_id(message.id)
    return id.row if id and id.kind is not MessageKind.SENT_FIRST else 0


def _identities(stored: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    return [{"field": field, "value": value} for field, value in stored]


def _person(person: Person) -> dict[str, Any]:
    return {
        "id": person.id,
        "name": person.name,
        "language": person.language,
        "labels": person.labels,
        "identities": _identities([(identity.field, identity.value) for identity in person.identities]),
        "userIds": person.user_ids,
        "firstAt": iso_milliseconds(person.first_at),
        "lastAt": iso_milliseconds(person.last_at),
    }


def _conversation(senders: Sequence[StoredPersonSender]) -> dict[str, Any]:
    first = senders[0]
    return {
        "instanceId": first.instance_id,
        "channelId": first.channel_id,
        "channelName": first.channel_name,
        "sessionId": first.session_id,
        "shared": first.is_shared,
        "senders": [
            {
                "id": sender.sender,
                "name": sender.name,
                "language": sender.language,
                "identities": _identities(orjson.loads(sender.identities)),
                "userId": sender.user_id,
                "firstAt": iso_milliseconds(sender.first_at),
                "lastAt": iso_milliseconds(sender.seen_at),
            }
            for sender in senders
        ],
    }


def _file(file: Artifact) -> dict[str, Any]:
    return {"name": file.name, "mimeType": file.mime_type, "size": file.size, "url": file.url or None}


def _message(message: Message, event: Event | None) -> dict[str, Any]:
    return {
        "id": message.id,
        "direction": message.direction,
        "author": message.author,
        "text": message.text,
        "at": iso_milliseconds(message.at),
        "status": message.status,
        **(_written(event) if event and message.direction is Direction.INBOUND else {}),
    }


def _written(event: Event) -> dict[str, Any]:
    """What a sender's message has beside its text."""
    quoted = event.quoted
    document: dict[str, Any] = {
        "senderId": event.sender.external_id,
        "senderName": event.sender.display_name,
        "choice": event.choice,
        "reaction": event.reaction,
        "quoted": {"author": quoted.author, "text": quoted.text} if quoted else None,
        "form": event.form_input,
        "context": event.context,
    }
    return {name: value for name, value in document.items() if value}
