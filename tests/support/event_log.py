"""What tests look for in the log of events, and in what readers got of it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from adapters.outbound.storage.events import PostgresEventLog
from adapters.outbound.storage.pool import Database
from domain.events import EventFilter, EventKind, LoggedEvent

DAYS = 7


async def listening(database: Database) -> PostgresEventLog:
    """A log of events to which somebody listens."""
    log = PostgresEventLog(database, DAYS)
    await log.listen("the test")
    return log


async def events_of(
    log: PostgresEventLog, cursor: int = 0, wanted: EventFilter | None = None
) -> list[LoggedEvent]:
    """All events behind a cursor, once those of finished transactions have their ids; without resets."""
    await log.publish()
    events: list[LoggedEvent] = []
    more = True
    while more:
        page = await log.after(wanted or EventFilter(), cursor, 50)
        events += page.events
        cursor, more = page.cursor, page.more
    return [event for event in events if event.kind in set(EventKind)]


def kinds(events: Iterable[LoggedEvent]) -> list[str]:
    return [event.kind for event in events]


Document = Mapping[str, object]

STORY = (EventKind.MESSAGE_RECEIVED, EventKind.MESSAGE_ANSWERED, EventKind.DELIVERY_SENT)
"""What happens to a message that is answered with one delivery, in this order."""


def check_stories(events: Sequence[Document], accepted: Iterable[str]) -> None:
    """Of events that one reader got, in the order in which it got them: ids only grow; each accepted message (by its
    text) was received once, answered once and sent at least once, in this order; nothing is told of any other
    message than one that was received; and conversations keep their order."""
    ids = [int(str(event["id"])) for event in events]
    assert ids == sorted(set(ids)), "ids grow"
    stories: dict[object, list[str]] = {}
    texts: dict[str, object] = {}
    received: dict[object, list[int]] = {}
    for event in events:
        message = _message(event)
        if message is not None:
            stories.setdefault(message, []).append(str(event["kind"]))
        if event["kind"] == EventKind.MESSAGE_RECEIVED:
            data = _data(event)
            assert data["text"] not in texts, f"{data['text']} was received once"
            texts[str(data["text"])] = message
            received.setdefault(event["sessionId"], []).append(int(str(message)))
    for text in accepted:
        assert text in texts, f"{text} was accepted, and no event tells of it"
        story = stories[texts[text]]
        assert tuple(dict.fromkeys(story)) == STORY, f"{text}: {story}"
        counted = Counter(story)
        assert counted[EventKind.MESSAGE_ANSWERED] == 1, f"{text}: {story}"
    assert set(stories) == set(texts.values()), "events tell of messages that were received"
    for numbers in received.values():
        assert numbers == sorted(numbers), "a conversation is told in order"
    for kind in STORY[1:]:
        _in_order(events, kind)


def _in_order(events: Sequence[Document], kind: EventKind) -> None:
    """Messages of one conversation are answered, and their answers sent, in the order in which they came."""
    latest: dict[object, int] = {}
    for event in events:
        if event["kind"] == kind:
            number = int(str(_message(event)))
            assert number >= latest.get(event["sessionId"], 0), f"{kind} of {number} comes too late"
            latest[event["sessionId"]] = number


def _message(event: Document) -> str | None:
    """The number of the message that an event is about."""
    message = _data(event).get("messageId")
    return None if message is None else str(message).rpartition("-")[2]


def _data(event: Document) -> Document:
    data = event["data"]
    assert isinstance(data, Mapping)
    return data
