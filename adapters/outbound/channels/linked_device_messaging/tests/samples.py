"""What the contract suite needs of this channel."""

from dataclasses import replace

from adapters.outbound.channels.linked_device_messaging.device import Incoming
from adapters.outbound.channels.linked_device_messaging.session import event_of
from adapters.outbound.channels.tests.sample import Opening, Reply, Sample
from adapters.outbound.channels.tests.support import NOW
from domain.channels.messages import Event, Quoted
from domain.channels.refused import NUMBER

MESSAGE = Incoming(
    id="3EB0C431C26A1916E07E",
    chat="4917000000001@s.whatsapp.net",
    sender_ids=("4917000000001", "99887766554433"),
    name="Ann",
    text="Please look at this",
    at=NOW.timestamp(),
)


def replied() -> Event:
    """The event of a reply."""
    return event_of(7, replace(MESSAGE, original=Quoted("It is hot.", "4917000000002")))


SAMPLE = Sample(
    fields=(
        "phoneNumber string R, allowedNumbers string, identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean"
    ),
    typing_shown_seconds=10.0,
    config={"phoneNumber": "4915112345678"},
    target={"instance": 7, "chat": "4917012345678@s.whatsapp.net"},
    shown=lambda part: str(part.payload["text"]),
    over_http=False,
    openings=(Opening("+4917000000001", "4917000000001", answered=lambda: event_of(7, MESSAGE)),),
    no_addresses=("4917000000001", "4917000000001@s.whatsapp.net", "+49 170 00000001"),
    refused={NUMBER: lambda: replace(event_of(7, MESSAGE), refused=NUMBER)},
    replies=(Reply(replied, "It is hot.", "4917000000002"),),
)
