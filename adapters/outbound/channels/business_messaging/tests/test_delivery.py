"""Answers through a Graph API of our own, in good and in bad times."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.business_messaging.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import Files, client, dependencies
from domain.channels.answers import Answer, Artifact, Choice, Template
from domain.channels.messages import Attachment, Outcome, Sent
from ports.capabilities import PlatformError
from tests.support.platforms.whatsapp import WhatsApp, refusal

from .samples import CONFIG, SETTING, TARGET

BYTES = bytes(range(256)) * 40
CHOICES = (
    Choice("Approve", "c:1:a"),
    Choice("Approve session", "c:1:s"),
    Choice("Reject this very tool", "c:1:r"),
)


def file(name: str, mime_type: str, size: int | None = None) -> Artifact:
    return Artifact(name, mime_type, f"https://switchboard.example/f/{name}", size=size)


@pytest.fixture
async def server() -> AsyncIterator[WhatsApp]:
    async with WhatsApp.run() as platform:
        yield platform


@pytest.fixture
async def channel(server: WhatsApp) -> AsyncIterator[ChannelCalls]:
    files = Files(**dict.fromkeys(("a.png", "a.webp", "a.mp4", "a.mp3", "a.pdf", "a.zip"), BYTES))
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, {SETTING: server.url}, files)))


async def deliver(
    channel: ChannelCalls, answer: Answer, target: Any = TARGET, config: Any = CONFIG
) -> list[Sent]:
    parts = channel.render(config, target, answer)
    return [await channel.send(config, target, part, f"key{index}") for index, part in enumerate(parts)]


async def test_has_the_capabilities_of_a_business_number(channel: ChannelCalls) -> None:
    assert channel.has("webhook", "sender", "probe", "fetcher", "typing")


async def test_answers_the_person_in_whatsapps_markup(channel: ChannelCalls, server: WhatsApp) -> None:
    (sent,) = await deliver(channel, Answer("**Hot** _steam_"))
    assert sent == Sent(Outcome.SENT, ref="wamid.1")
    assert server.messages == [
        {"to": "441632960001", "type": "text", "text": {"preview_url": False, "body": "*Hot* _steam_"}}
    ]


async def test_a_person_without_a_number_is_answered_by_the_scoped_id(
    channel: ChannelCalls, server: WhatsApp
) -> None:
    await deliver(channel, Answer("Hi"), {"recipient": "GB.A1b2C3", "message_id": "x"})
    assert server.messages[0]["recipient"] == "GB.A1b2C3"
    assert "to" not in server.messages[0]


async def test_a_long_answer_goes_in_parts(channel: ChannelCalls, server: WhatsApp) -> None:
    sent = await deliver(channel, Answer("steam " * 2000))
    assert {each.outcome for each in sent} == {Outcome.SENT}
    assert len(server.messages) == 3


async def test_another_api_version(channel: ChannelCalls, server: WhatsApp) -> None:
    server.version = "v25.0"
    (sent,) = await deliver(channel, Answer("Hi"), config=CONFIG | {"apiVersion": "v25.0"})
    assert sent.outcome is Outcome.SENT


async def test_choices_are_reply_buttons(channel: ChannelCalls, server: WhatsApp) -> None:
    choices = (*CHOICES[:2], Choice("Reject", "c:1:r"))
    await deliver(channel, Answer("May I" + " x" * 700, choices=choices))
    assert [each["type"] for each in server.messages] == ["text", "interactive"]
    buttons = server.messages[-1]["interactive"]["action"]["buttons"]
    assert [each["reply"] for each in buttons] == [
        {"id": "c:1:a", "title": "Approve"},
        {"id": "c:1:s", "title": "Approve session"},
        {"id": "c:1:r", "title": "Reject"},
    ]


async def test_more_choices_than_buttons_are_rows_of_a_list(channel: ChannelCalls, server: WhatsApp) -> None:
    await deliver(
        channel, Answer("Which?", choices=(*CHOICES, Choice("None of these, as I said before", "c:1:n")))
    )
    [message] = server.messages
    assert message["interactive"]["type"] == "list"
    assert message["interactive"]["action"]["sections"] == [
        {
            "rows": [
                {"id": "c:1:a", "title": "Approve"},
                {"id": "c:1:s", "title": "Approve session"},
                {"id": "c:1:r", "title": "Reject this very tool"},
                {
                    "id": "c:1:n",
                    "title": "None of these, as I sai…",
                    "description": "None of these, as I said before",
                },
            ]
        }
    ]


async def test_labels_that_are_too_long_for_buttons_are_rows_of_a_list(
    channel: ChannelCalls, server: WhatsApp
) -> None:
    choices = tuple(Choice(f"Deliver it to our branch in {city}", city) for city in ("Bonn", "Kiel"))
    await deliver(channel, Answer("Where?", choices=choices))
    [section] = server.messages[-1]["interactive"]["action"]["sections"]
    assert section["rows"] == [
        {
            "id": city,
            "title": f"{number}. Deliver it to our br…",
            "description": f"Deliver it to our branch in {city}",
        }
        for number, city in enumerate(("Bonn", "Kiel"), start=1)
    ]


@pytest.mark.parametrize(
    ("artifact", "kind"),
    [
        (file("a.png", "image/png"), "image"),
        (file("a.webp", "image/webp"), "document"),
        (file("a.mp4", "video/mp4"), "video"),
        (file("a.mp3", "audio/mpeg"), "audio"),
        (file("a.pdf", "application/pdf"), "document"),
    ],
)
async def test_files_are_uploaded_and_sent_by_their_kind(
    channel: ChannelCalls, server: WhatsApp, artifact: Artifact, kind: str
) -> None:
    (sent,) = await deliver(channel, Answer("", artifacts=(artifact,)))
    assert sent.outcome is Outcome.SENT
    (message,) = server.messages
    assert message["type"] == kind
    assert server.media[message[kind]["id"]].content == BYTES
    assert message[kind].get("filename") == (artifact.name if kind == "document" else None)


@pytest.mark.parametrize(
    "artifact",
    [file("a.zip", "application/zip"), file("film.mkv", "video/x-matroska", 200 * 2**20)],
    ids=["unsupported", "huge"],
)
async def test_a_file_that_is_not_taken_goes_as_its_link(
    channel: ChannelCalls, server: WhatsApp, artifact: Artifact
) -> None:
    (sent,) = await deliver(channel, Answer("", artifacts=(artifact,)))
    assert sent.outcome is Outcome.SENT
    assert server.messages[0]["text"]["body"] == f"{artifact.name}: {artifact.url}"


async def test_each_message_bears_its_key(channel: ChannelCalls, server: WhatsApp) -> None:
    await deliver(channel, Answer("Hello", artifacts=(file("a.pdf", "application/pdf"),)))
    assert server.keys == ["key0", "key1"]


async def test_an_upload_that_breaks_off_can_be_repeated(channel: ChannelCalls, server: WhatsApp) -> None:
    server.drop()
    (sent,) = await deliver(channel, Answer("", artifacts=(file("a.pdf", "application/pdf"),)))
    assert sent.outcome is Outcome.TRANSIENT


@pytest.mark.parametrize(
    ("status", "code", "outcome", "wait"),
    [
        (401, 190, Outcome.PERMANENT, None),
        (403, 10, Outcome.PERMANENT, None),
        (403, 200, Outcome.PERMANENT, None),
        (400, 131026, Outcome.PERMANENT, None),
        (400, 131030, Outcome.PERMANENT, None),
        (403, 368, Outcome.PERMANENT, None),
        (400, 131009, Outcome.PERMANENT, None),
        (400, 4, Outcome.RETRY_AFTER, 60),
        (400, 80007, Outcome.RETRY_AFTER, 60),
        (429, 130429, Outcome.RETRY_AFTER, 10),
        (400, 131056, Outcome.RETRY_AFTER, 6),
        (400, 131048, Outcome.RETRY_AFTER, 3600),
        (500, 131000, Outcome.TRANSIENT, None),
        (400, 131016, Outcome.TRANSIENT, None),
        (503, 2, Outcome.TRANSIENT, None),
    ],
)
async def test_errors_are_classified_by_their_code(
    channel: ChannelCalls,
    server: WhatsApp,
    status: int,
    code: int,
    outcome: Outcome,
    wait: float | None,
) -> None:
    reply = refusal(status, code, "Something", error_data={"details": "the reason"})
    server.next_reply(reply.status, reply.json)
    (sent,) = await deliver(channel, Answer("Hi"))
    assert (sent.outcome, sent.retry_after) == (outcome, wait)
    assert sent.detail.endswith(f"{code} the reason")


async def test_what_the_platform_asks_for_is_waited(channel: ChannelCalls, server: WhatsApp) -> None:
    server.next_reply(429, refusal(429, 130429, "Rate limit hit").json, Retry_After="12")
    (sent,) = await deliver(channel, Answer("Hi"))
    assert (sent.outcome, sent.retry_after) == (Outcome.RETRY_AFTER, 12)


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, b"<html>proxy</html>", Outcome.UNKNOWN),
        (502, b"<html>bad gateway</html>", Outcome.TRANSIENT),
        (429, b"", Outcome.RETRY_AFTER),
    ],
)
async def test_answers_that_are_none(
    channel: ChannelCalls, server: WhatsApp, status: int, body: bytes, outcome: Outcome
) -> None:
    server.next_reply(status, body=body)
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is outcome


async def test_a_broken_connection_is_unknown(channel: ChannelCalls, server: WhatsApp) -> None:
    server.drop()
    (sent,) = await deliver(channel, Answer("Hi"))
    assert (sent.outcome, sent.retry_after) == (Outcome.UNKNOWN, 20)


async def test_a_server_that_hangs_is_unknown(channel: ChannelCalls, server: WhatsApp) -> None:
    (sent,) = await server.unanswered(deliver(channel, Answer("Hi")))
    assert sent.outcome is Outcome.UNKNOWN


async def test_a_server_that_is_not_there_can_be_tried_again() -> None:
    async with client() as http:
        lost = ChannelCalls(build(dependencies(http, {SETTING: "http://127.0.0.1:1"})))
        (sent,) = await deliver(lost, Answer("Hi"))
        assert sent.outcome is Outcome.TRANSIENT
        await lost.typing(CONFIG, TARGET)
        with pytest.raises(PlatformError):
            await lost.probe(CONFIG)


async def test_marks_as_read_and_shows_that_it_writes(channel: ChannelCalls, server: WhatsApp) -> None:
    await channel.typing(CONFIG, TARGET)
    assert server.read == [
        {"status": "read", "message_id": "wamid.HBgM0001", "typing_indicator": {"type": "text"}}
    ]
    await channel.typing(CONFIG, {"to": "441632960001"})
    assert len(server.read) == 1


async def test_probes_the_phone_number(channel: ChannelCalls) -> None:
    await channel.probe(CONFIG)
    with pytest.raises(PlatformError, match="190"):
        await channel.probe(CONFIG | {"accessToken": "wrong"})


async def test_fetches_media(channel: ChannelCalls) -> None:
    image = Attachment("image.jpg", "image/jpeg", {"media_id": "M1"})
    assert b"".join([piece async for piece in channel.fetch(CONFIG, image)]) == b"\x89PNG picture"


async def test_media_that_is_gone_says_so(channel: ChannelCalls) -> None:
    image = Attachment("image.jpg", "image/jpeg", {"media_id": "M404"})
    with pytest.raises(PlatformError, match="Unsupported get request"):
        [piece async for piece in channel.fetch(CONFIG, image)]


async def test_a_template_is_sent_in_place_of_the_text(channel: ChannelCalls, server: WhatsApp) -> None:
    template = Template("order_ready", "en_GB", ("Ada", "4711"))
    (sent,) = await deliver(channel, Answer("", template=template), {"to": "441632960001"})
    assert sent.outcome is Outcome.SENT
    (message,) = server.messages
    assert message["template"] == {
        "name": "order_ready",
        "language": {"code": "en_GB"},
        "components": [
            {
                "type": "body",
                "parameters": [{"type": "text", "text": "Ada"}, {"type": "text", "text": "4711"}],
            }
        ],
    }


async def test_a_template_without_parameters_has_no_components(
    channel: ChannelCalls, server: WhatsApp
) -> None:
    await deliver(channel, Answer("", template=Template("hello", "en")))
    assert server.messages[0]["template"] == {"name": "hello", "language": {"code": "en"}}


async def test_a_closed_window_is_said_in_plain_words(channel: ChannelCalls, server: WhatsApp) -> None:
    reply = refusal(400, 131047, "Re-engagement message")
    server.next_reply(reply.status, reply.json)
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is Outcome.PERMANENT
    assert sent.detail.endswith("WhatsApp takes only a template now.")
