"""Events to protobuf and back."""

import json
from collections.abc import Iterator

from switchboard.events.v1 import events_pb2 as pb

from adapters.wire.conversion import Conversion
from adapters.wire.json_text import json_text
from domain.events.model import EventPage, LoggedEvent

EVENT = Conversion(LoggedEvent, pb.Event)


def page_to_pb(page: EventPage) -> Iterator[pb.WatchResponse]:
    """A message for each event, the last one with the cursor of the page."""
    for event in page.events:
        yield pb.WatchResponse(event=EVENT.to_pb(event, data_json=json_text(event.data)), cursor=event.id)
    if not page.events or page.cursor > page.events[-1].id:
        yield pb.WatchResponse(cursor=page.cursor)


def page_from_pb(message: pb.WatchResponse) -> EventPage:
    if not message.HasField("event"):
        return EventPage((), message.cursor)
    event = EVENT.from_pb(message.event, data=json.loads(message.event.data_json), owner=None)
    return EventPage((event,), message.cursor)
