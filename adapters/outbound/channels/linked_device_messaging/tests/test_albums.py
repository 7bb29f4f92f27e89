"""Which album a message of the linked device belongs to."""

from types import SimpleNamespace
from typing import Any

from adapters.outbound.channels.linked_device_messaging.contents import album_of, media_of
from adapters.outbound.channels.linked_device_messaging.device import Incoming, event_from
from adapters.outbound.channels.linked_device_messaging.session import event_of
from domain.channels.messages import Merge


class Message(SimpleNamespace):
    """As protobuf's: a field that is not set is there, and `HasField` says so."""

    def HasField(self, name: str) -> bool:  # noqa: N802
        return name in self.__dict__


def part_of(album: str, kind: int = 1) -> Message:
    association = Message(associationType=kind, parentMessageKey=Message(ID=album))
    return Message(messageAssociation=association)


def picture(**more: Any) -> Message:
    image = Message(mimetype="image/jpeg", fileLength=9)
    return Message(imageMessage=image, conversation="", SerializeToString=lambda: b"", **more)


def test_a_picture_of_an_album() -> None:
    assert album_of(picture(messageContextInfo=part_of("A1"))) == "A1"


def test_a_picture_of_an_album_within_another_message() -> None:
    inner = picture(messageContextInfo=part_of("A1"))
    outer = Message(associatedChildMessage=Message(message=inner))
    assert album_of(outer) == "A1"
    assert [each["name"] for each in media_of(outer)] == ["image.jpg"]


def test_a_picture_alone_and_another_kind_of_association() -> None:
    assert album_of(picture()) == ""
    assert album_of(picture(messageContextInfo=Message())) == ""
    assert album_of(picture(messageContextInfo=part_of("A1", kind=10))) == ""


def test_pictures_of_an_album_are_merged_within_their_chat() -> None:
    said = {
        "event": "message",
        "id": "M1",
        "chat": "49170@s.whatsapp.net",
        "sender_ids": ["49170"],
        "name": "Ada",
        "text": "",
        "at": 1.0,
        "from_me": False,
        "is_group": False,
        "media": [],
        "album": "A1",
    }
    incoming = event_from(said)
    assert isinstance(incoming, Incoming)
    assert event_of(7, incoming).merge == Merge("49170@s.whatsapp.net:A1")
    alone = event_from({**said, "album": ""})
    assert isinstance(alone, Incoming)
    assert event_of(7, alone).merge is None
