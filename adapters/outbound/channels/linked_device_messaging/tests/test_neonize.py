"""The child against the library itself, where the extra `linked-device` is installed; without the network.

Its messages are built by hand and given to the handlers that the library would call.
"""

import base64
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.channels.linked_device_messaging.child import Device
from adapters.outbound.channels.linked_device_messaging.device import (
    Dropped,
    Incoming,
    Linked,
    LoggedOut,
    Unlinked,
    event_from,
)

pytest.importorskip("neonize", reason="the extra linked-device is not installed", exc_type=ImportError)

from neonize import client as library
from neonize import events
from neonize.exc import GetJIDFromStoreError, NeonizeError, UploadError
from neonize.proto import Neonize_pb2 as told
from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import Message

NUMBER, HIDDEN = "4917012345678", "987654321012345"


class Heard:
    """What the child said, in place of its standard output."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def write(self, **fields: Any) -> None:
        self.lines.append(json.loads(json.dumps(fields)))

    @property
    def last(self) -> Any:
        return event_from(self.lines[-1])


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def device(tmp_path: Path, heard: Heard) -> Device:
    made = Device(str(tmp_path / "7.db"), heard)  # type: ignore[arg-type]
    made.create_client()
    return made


def happen(device: Device, event: Any) -> None:
    """As the library calls the handler of an event."""
    code = events.EVENT_TO_INT[type(event)]
    device.client.event.list_func[code](device.client, event)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (told.Connected(status=True), Linked()),
        (told.LoggedOut(OnConnect=False), LoggedOut("any")),
        (told.Disconnected(status=True), Dropped("disconnected")),
        (told.StreamReplaced(), Dropped("stream replaced")),
        (told.ClientOutdated(), Dropped("client outdated")),
    ],
)
def test_the_life_of_a_connection(device: Device, heard: Heard, event: Any, expected: Any) -> None:
    happen(device, event)
    assert type(heard.last) is type(expected)
    if not isinstance(expected, LoggedOut):
        assert heard.last == expected


def test_a_qr_code_means_that_no_account_is_linked(device: Device, heard: Heard) -> None:
    device.client.event._qr(device.client, b"2@abc")
    device.client.event._qr(device.client, b"2@def")
    assert [event_from(line) for line in heard.lines] == [Unlinked()]


def received(message: Any, *, sender: Any = None, alt: Any = None, **source: Any) -> Any:
    chat = told.JID(User=NUMBER, Server="s.whatsapp.net", RawAgent=0, Device=0, Integrator=0, IsEmpty=False)
    info = told.MessageInfo(ID="3EB0", Pushname="Bob", Timestamp=1795176000, Type="text")
    info.MessageSource.Chat.CopyFrom(source.pop("chat", chat))
    info.MessageSource.Sender.CopyFrom(sender or chat)
    if alt is not None:
        info.MessageSource.SenderAlt.CopyFrom(alt)
    info.MessageSource.IsFromMe = source.pop("from_me", False)
    info.MessageSource.IsGroup = source.pop("group", False)
    made = told.Message()
    made.Info.CopyFrom(info)
    made.Message.CopyFrom(message)
    return made


def of(kind: str, **fields: Any) -> Any:
    message = Message()
    part = getattr(message, kind)
    part.SetInParent()
    for name, value in fields.items():
        if isinstance(value, dict):
            getattr(part, name).CopyFrom(type(getattr(part, name))(**value))
        else:
            setattr(part, name, value)
    return message


def wrapped(wrapper: str, inner: Any) -> Any:
    message = Message()
    getattr(message, wrapper).message.CopyFrom(inner)
    return message


def replying(kind: str, **fields: Any) -> Any:
    """A message that replies to one of another person."""
    message = of(kind, **fields)
    context = getattr(message, kind).contextInfo
    context.participant = "4917000000002:3@s.whatsapp.net"
    context.quotedMessage.CopyFrom(
        of("imageMessage", mimetype="image/png", caption="It is hot.", fileLength=9)
    )
    return message


@pytest.mark.parametrize(
    "message",
    [
        replying("extendedTextMessage", text="Is it?"),
        replying("imageMessage", mimetype="image/png", caption="Is it?"),
    ],
)
def test_what_was_replied_to(device: Device, heard: Heard, message: Any) -> None:
    happen(device, received(message))
    assert isinstance(heard.last, Incoming)
    original = heard.last.original
    assert original is not None
    assert (heard.last.text, original.author, original.text) == ("Is it?", "4917000000002", "It is hot.")
    assert [(file.name, file.size) for file in original.attachments] == [("image.png", 9)]


WRAPPERS = ["ephemeralMessage", "viewOnceMessage", "viewOnceMessageV2", "viewOnceMessageV2Extension"]


@pytest.mark.parametrize(
    "message",
    [
        Message(conversation="Hello"),
        of("extendedTextMessage", text="Hello"),
        *(wrapped(each, Message(conversation="Hello")) for each in WRAPPERS),
    ],
)
def test_texts(device: Device, heard: Heard, message: Any) -> None:
    happen(device, received(message))
    assert heard.last == Incoming(
        "3EB0", f"{NUMBER}@s.whatsapp.net", (NUMBER,), "Bob", "Hello", 1795176000.0, media=()
    )


@pytest.mark.parametrize(
    ("message", "name", "mime_type", "text"),
    [
        (
            of("imageMessage", mimetype="image/png", caption="See", fileLength=9),
            "image.png",
            "image/png",
            "See",
        ),
        (of("videoMessage", mimetype="video/mp4", fileLength=9), "video.mp4", "video/mp4", ""),
        (of("ptvMessage", mimetype="video/mp4", fileLength=9), "video.mp4", "video/mp4", ""),
        (of("audioMessage", mimetype="audio/mpeg; x=1", fileLength=9), "audio.mp3", "audio/mpeg", ""),
        (
            wrapped(
                "documentWithCaptionMessage",
                of(
                    "documentMessage",
                    mimetype="application/pdf",
                    fileName="plan.pdf",
                    caption="Plan",
                    fileLength=9,
                ),
            ),
            "plan.pdf",
            "application/pdf",
            "Plan",
        ),
    ],
)
def test_media(
    device: Device,
    heard: Heard,
    message: Any,
    name: str,
    mime_type: str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    happen(device, received(message))
    (media,) = heard.last.media
    assert (media.name, media.mime_type, media.size, heard.last.text) == (name, mime_type, 9, text)
    asked: list[Any] = []
    monkeypatch.setattr(library.NewClient, "download_any", lambda _, *given: asked.append(given))
    device.download({"message": media.source["message"], "path": "/tmp/out"})
    assert asked == [(Message.FromString(base64.b64decode(media.source["message"])), "/tmp/out")]


def test_a_group(device: Device, heard: Heard) -> None:
    group = told.JID(User="120363", Server="g.us", RawAgent=0, Device=0, Integrator=0, IsEmpty=False)
    happen(device, received(Message(conversation="Hello"), chat=group, group=True, from_me=True))
    assert (heard.last.chat, heard.last.is_group, heard.last.from_me) == ("120363@g.us", True, True)


def jid(user: str, server: str) -> Any:
    return told.JID(User=user, Server=server, RawAgent=0, Device=0, Integrator=0, IsEmpty=False)


def test_all_ids_of_a_sender_are_told_the_number_first(
    device: Device, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden, number = jid(HIDDEN, "lid"), jid(NUMBER, "s.whatsapp.net")
    monkeypatch.setattr(library.NewClient, "get_pn_from_lid", lambda *_: number)
    happen(device, received(Message(conversation="Hello"), sender=hidden))
    assert heard.last.sender_ids == (NUMBER, HIDDEN)
    happen(device, received(Message(conversation="Hello"), sender=hidden, alt=number))
    assert heard.last.sender_ids == (NUMBER, HIDDEN)

    def unknown(*_: Any) -> Any:
        raise GetJIDFromStoreError("no number")

    monkeypatch.setattr(library.NewClient, "get_pn_from_lid", unknown)
    happen(device, received(Message(conversation="Hello"), sender=hidden))
    assert heard.last.sender_ids == (HIDDEN,)


NATIVE = [
    ("image/png", "build_image_message"),
    ("video/mp4", "build_video_message"),
    ("audio/ogg", "build_audio_message"),
]


class Sending:
    """What the library was asked to build and to send."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.built: list[dict[str, Any]] = []
        self.sent: list[Any] = []
        self.replace("send_message", self._send)

    def replace(self, method: str, act: Any) -> None:
        signature = inspect.signature(getattr(library.NewClient, method))
        self.monkeypatch.setattr(
            library.NewClient,
            method,
            lambda *args, **options: act(signature.bind(*args, **options).arguments),
        )

    def _send(self, given: dict[str, Any]) -> Any:
        self.sent.append((given["to"].User, given["to"].Server, given["message"]))
        return told.SendResponse(ID="3EB1", Timestamp=1, ServerID=1)

    def build(self, method: str, failure: Exception | None = None) -> None:
        def act(given: dict[str, Any]) -> Any:
            if failure:
                raise failure
            self.built.append({name: each for name, each in given.items() if name != "self"})
            return f"a {method}"

        self.replace(method, act)


CHAT = f"{NUMBER}@s.whatsapp.net"
FILE = {"chat": CHAT, "path": "/tmp/x", "name": "x.pdf"}


def test_text_is_sent(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    sending = Sending(monkeypatch)
    assert device.send({"chat": CHAT, "text": "Hello"}) == "3EB1"
    assert sending.sent == [(NUMBER, "s.whatsapp.net", "Hello")]


@pytest.mark.parametrize(("mime_type", "method"), NATIVE)
def test_files_are_sent_as_what_they_are(
    device: Device, mime_type: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = Sending(monkeypatch)
    sending.build(method)
    assert device.send({**FILE, "mime": mime_type}) == "3EB1"
    assert sending.built == [{"file": "/tmp/x"}]
    assert sending.sent == [(NUMBER, "s.whatsapp.net", f"a {method}")]


@pytest.mark.parametrize(("mime_type", "method"), [*NATIVE, ("application/pdf", "")])
def test_what_cannot_be_read_is_sent_as_a_document(
    device: Device, mime_type: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = Sending(monkeypatch)
    if method:
        sending.build(method, FileNotFoundError("ffprobe"))
    sending.build("build_document_message")
    device.send({**FILE, "mime": mime_type})
    assert sending.built == [{"file": "/tmp/x", "filename": "x.pdf", "mimetype": mime_type}]


def test_an_upload_that_fails_is_no_reason_for_a_document(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = Sending(monkeypatch)
    sending.build("build_image_message", UploadError("no route"))
    with pytest.raises(UploadError):
        device.send({**FILE, "mime": "image/png"})
    assert sending.sent == []


def test_what_is_called_is_there_as_it_is_called() -> None:
    client = library.NewClient
    inspect.signature(client.__init__).bind(None, "7.db", uuid="device-1")
    inspect.signature(client.PairPhone).bind(None, NUMBER, True)
    for name in ("connect", "logout", "stop"):
        inspect.signature(getattr(client, name)).bind(None)
    assert isinstance(client.is_logged_in, property)
    assert isinstance(client.is_connected, property)
    assert issubclass(GetJIDFromStoreError, NeonizeError)


def test_logging_out_unlinks_and_forgets(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    did: list[str] = []
    monkeypatch.setattr(library.NewClient, "is_logged_in", property(lambda _: True))
    for name in ("logout", "stop", "connect"):
        monkeypatch.setattr(library.NewClient, name, lambda _, name=name: did.append(name))
    for name in ("7.db", "7.db-wal", "77.db"):
        (tmp_path / name).write_text("x")
    device.logout({})
    assert did[:2] == ["logout", "stop"]
    assert [path.name for path in tmp_path.glob("*.db*")] == ["77.db"]


def test_a_stored_account_is_connected_before_it_is_unlinked(
    tmp_path: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    did: list[str] = []
    monkeypatch.setattr(library.NewClient, "is_logged_in", property(lambda _: True))
    monkeypatch.setattr(library.NewClient, "stop", lambda _: did.append("stop"))
    monkeypatch.setattr(library.NewClient, "logout", lambda _: did.append("logout"))
    device = Device(str(tmp_path / "7.db"), heard)  # type: ignore[arg-type]
    monkeypatch.setattr(library.NewClient, "connect", lambda _: device.on_linked())
    (tmp_path / "7.db").write_text("x")
    device.logout({})
    assert did == ["logout", "stop"]


def test_a_code_over_a_connection_that_was_hung_up_on(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    did: list[str] = []
    device.on_qr_code()
    monkeypatch.setattr(library.NewClient, "is_connected", property(lambda _: False))
    monkeypatch.setattr(library.NewClient, "stop", lambda _: did.append("stop"))
    monkeypatch.setattr(library.NewClient, "connect", lambda _: device.on_qr_code())
    monkeypatch.setattr(library.NewClient, "PairPhone", lambda _, phone, push: f"{phone} {push}")
    assert device.pair({"phone": NUMBER}) == f"{NUMBER} True"
    assert did == ["stop"]


def contacts(*names: str) -> Any:
    message = of("contactsArrayMessage")
    for name in names:
        vcard = f"BEGIN:VCARD\nFN:{name}\nitem1.TEL;waid=491:+49 1\nEND:VCARD"
        message.contactsArrayMessage.contacts.add(displayName=name, vcard=vcard)
    return message


LOCATION = {"degreesLatitude": 51.5, "degreesLongitude": -0.14}
AD = {"sourceType": "ad", "sourceID": "120", "title": "Sale", "ctwaClid": "abc", "mediaType": 1}
PLACE = {"latitude": 51.5, "longitude": -0.14}
ORDER = {
    "orderID": "7",
    "message": "with care",
    "itemCount": 2,
    "totalAmount1000": 9500,
    "totalCurrencyCode": "EUR",
}


@pytest.mark.parametrize(
    ("message", "text", "context"),
    [
        (
            of("locationMessage", **LOCATION, name="Works", address="Mill Lane 1"),
            "Location: Works, Mill Lane 1 (51.5, -0.14)",
            {"location": {**PLACE, "name": "Works", "address": "Mill Lane 1"}},
        ),
        (
            of("liveLocationMessage", **LOCATION),
            "Location: 51.5, -0.14",
            {"location": {**PLACE, "name": "", "address": ""}},
        ),
        (
            of(
                "contactMessage",
                displayName="Bob",
                vcard="BEGIN:VCARD\nTEL:+49 1\nTEL:+49 2\nEMAIL;type=WORK:bob@example.org\nEND:VCARD",
            ),
            "Contact: Bob +49 1 +49 2 bob@example.org",
            {"contact": {"name": "Bob", "phones": ["+49 1", "+49 2"], "emails": ["bob@example.org"]}},
        ),
        (
            contacts("Bob", "Charles"),
            "Contact: Bob +49 1\nContact: Charles +49 1",
            {"contact": {"name": "Bob", "phones": ["+49 1"]}},
        ),
        (
            of("orderMessage", **ORDER),
            "Order: with care\nTotal: 9.5 EUR",
            {"order": {"id": "7", "text": "with care", "itemCount": 2, "total": 9.5, "currency": "EUR"}},
        ),
        (
            of("buttonsResponseMessage", selectedDisplayText="Yes", selectedButtonID="y"),
            "Yes",
            {"payload": "y"},
        ),
        (of("templateButtonReplyMessage", selectedDisplayText="Yes"), "Yes", {}),
        (
            of("listResponseMessage", title="Yes", singleSelectReply={"selectedRowID": "row-2"}),
            "Yes",
            {"payload": "row-2"},
        ),
        (
            of("extendedTextMessage", text="News", contextInfo={"isForwarded": True, "forwardingScore": 1}),
            "News",
            {"forwarded": {"frequently": False}},
        ),
        (
            of("imageMessage", caption="News", contextInfo={"isForwarded": True, "forwardingScore": 127}),
            "News",
            {"forwarded": {"frequently": True}},
        ),
        (
            of("extendedTextMessage", text="Hi", contextInfo={"externalAdReply": AD}),
            "Hi",
            {"referral": {"sourceType": "ad", "sourceId": "120", "headline": "Sale", "ctwaClid": "abc"}},
        ),
    ],
)
def test_what_is_shared_is_text(
    device: Device, heard: Heard, message: Any, text: str, context: dict[str, Any]
) -> None:
    happen(device, received(message))
    assert (heard.last.text, heard.last.context, heard.last.unreadable) == (text, context, "")


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (of("pollCreationMessageV3", name="Tea?"), "polls"),
        (of("eventMessage", name="Tea"), "events"),
        (wrapped("ephemeralMessage", of("pollCreationMessage", name="Tea?")), "polls"),
        (of("protocolMessage"), ""),
        (of("reactionMessage", text="!"), ""),
        (of("pollUpdateMessage"), ""),
    ],
)
def test_kinds_that_cannot_be_read_are_named(device: Device, heard: Heard, message: Any, kind: str) -> None:
    happen(device, received(message))
    assert (heard.last.text, heard.last.media, heard.last.unreadable) == ("", (), kind)


def test_a_sticker_is_a_file(device: Device, heard: Heard) -> None:
    happen(device, received(of("stickerMessage", mimetype="image/webp", fileLength=9)))
    assert [(file.name, file.mime_type) for file in heard.last.media] == [("sticker.webp", "image/webp")]
