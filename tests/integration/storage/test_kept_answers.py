"""What was answered is kept beside the message that it answers."""

import orjson

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import Answer, Artifact, Author, Choice, OutboundMessage
from domain.channels.messages import Event, Sender
from ports.queue import Capacity, EventOutcome

OWNER = 1
FILES = (
    Artifact("ours.pdf", "application/pdf", "https://bot.example/signed", "sha256/ab/cd", 12),
    Artifact("theirs.png", "image/png", "https://files.example/a.png"),
)


async def kept(database: Database, instance: int, answer: Answer | None) -> object:
    """The stored answer to a message that was answered so."""
    inbox = PostgresInbox(database, lambda: None)
    await inbox.add(instance, [Event("k", "s", Sender("x"), "question", {}, request_id="r")])
    leases = LeaseStore(database, OWNER, PostgresHealth(database))
    nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
    conversations = PostgresConversations(database, leases, nobody, PostgresUsage(database))
    [conversation] = (await conversations.lease(Capacity(10, 10, 10))).leased
    [queued] = conversation.queued
    messages = [OutboundMessage({"rendered": "<b>"})] if answer else []
    assert await conversations.record(
        EventOutcome(conversation.key, queued.id, {}, messages, answer=answer, last=True)
    )
    text = await database.fetch_value("SELECT answer FROM inbox WHERE id = %s", (queued.id,))
    return orjson.loads(text) if text else None


async def test_an_answer_is_kept_with_files_choices_and_author(database: Database, instance: int) -> None:
    answer = Answer("half \ud800 \0 of it", FILES, (Choice("Yes", "y"),), author=Author.RESOURCE)
    assert await kept(database, instance, answer) == {
        "text": "half \N{REPLACEMENT CHARACTER} \0 of it",
        "files": [
            {"name": "ours.pdf", "mimeType": "application/pdf", "size": 12, "blob": "sha256/ab/cd"},
            {
                "name": "theirs.png",
                "mimeType": "image/png",
                "size": None,
                "url": "https://files.example/a.png",
            },
        ],
        "choices": [{"label": "Yes", "value": "y"}],
        "author": "resource",
    }


async def test_what_ends_an_indicator_says_nothing(database: Database, instance: int) -> None:
    assert await kept(database, instance, Answer("")) is None
