"""Events as the messages of a stream."""

from collections.abc import Iterator

from switchboard.events.v1 import events_pb2 as pb

from adapters.rpc.messages import to_message, to_value
from domain.events import EventPage, LoggedEvent


def page_to_pb(page: EventPage) -> Iterator[pb.WatchResponse]:
    """A message for each event, the last one with the cursor of the page."""
    for event in page.events:
        yield pb.WatchResponse(event=to_message(event, pb.Event), cursor=event.id)
    if not page.events or page.cursor > page.events[-1].id:
        yield pb.WatchResponse(cursor=page.cursor)


def page_from_pb(message: pb.WatchResponse) -> EventPage:
    events = (to_value(message.event, LoggedEvent),) if message.HasField("event") else ()
    return EventPage(events, message.cursor)
