"""An event as a row of the inbox."""

import json
from uuid import UUID

from adapters.outbound.storage.queue.inbox import InboxRow
from domain.channels.messages import Event, Sender


def request_id(event: Event) -> str:
    found: str = json.loads(InboxRow.of(7, event).stored)["request"]
    return found


def an_event(key: str | None = "k", request_id: str = "") -> Event:
    return Event(key, "s", Sender("x"), "hello", {}, request_id=request_id)


def test_each_event_gets_a_request_id_of_its_own() -> None:
    given = [request_id(an_event(key)) for key in ("a", "b", None, None)]
    assert len(set(given)) == 4
    assert all(UUID(each).version == 4 for each in given)


def test_a_request_id_that_the_caller_knows_is_kept() -> None:
    assert request_id(an_event(request_id="r1")) == "r1"


def test_events_without_a_key_are_never_the_same() -> None:
    keys = [InboxRow.of(7, an_event(None)).event_key for _ in range(2)]
    assert keys[0] != keys[1]
    assert InboxRow.of(7, an_event("k")).event_key == InboxRow.of(8, an_event("k")).event_key == "k"
