"""Answers through a Bot API server of our own, in good and in bad times."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.bot_messenger.channel import build
from adapters.outbound.channels.bot_messenger.config import CONFIG as MODEL
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import Files, client, dependencies
from domain.channels.answers import Answer, Artifact, Choice, ClosedPrompt
from domain.channels.messages import Attachment, Outcome, Sent
from domain.refusals import TooLarge
from ports.capabilities import PlatformError
from tests.support.platforms.telegram import TOKEN, USERNAME, Telegram, refusal

from .samples import CONFIG, SETTING, TARGET

CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
CLOSED = ClosedPrompt("**Approved** it", "Approved", "**Approved**")
PHOTO = Artifact("engine.png", "image/png", "https://switchboard.example/f/1", size=900)
PLAN = Artifact("plan.pdf", "application/pdf", "https://switchboard.example/f/2")
EMPTY = Artifact("empty.txt", "text/plain", "https://switchboard.example/f/3", size=0)
HUGE = Artifact("film.mkv", "video/x-matroska", "https://switchboard.example/f/4", size=60 * 2**20)
BYTES = bytes(range(256)) * 40


@pytest.fixture
async def server() -> AsyncIterator[Telegram]:
    async with Telegram.run() as platform:
        yield platform


@pytest.fixture
async def channel(server: Telegram) -> AsyncIterator[ChannelCalls]:
    files = Files(**{"engine.png": BYTES, "plan.pdf": BYTES, "empty.txt": b""})
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, {SETTING: server.url + "/"}, files)))


async def deliver(
    channel: ChannelCalls, answer: Answer, target: Any = TARGET, /, **config: Any
) -> list[Sent]:
    whole = CONFIG | config
    parts = channel.render(whole, target, answer)
    return [await channel.send(whole, target, part, f"key{index}") for index, part in enumerate(parts)]


async def test_has_the_capabilities_of_a_bot(channel: ChannelCalls) -> None:
    assert channel.has(
        "webhook",
        "sender",
        "metadata",
        "registrar",
        "probe",
        "fetcher",
        "typing",
        "button_ack",
        "prompt_closer",
    )


@pytest.mark.parametrize(
    ("mode", "text"),
    [("HTML", "<b>Hot</b>. a_b!"), ("Markdown", r"*Hot*. a\_b!"), ("MarkdownV2", r"*Hot*\. a\_b\!")],
)
async def test_answers_are_written_in_the_chosen_markup(
    channel: ChannelCalls, server: Telegram, mode: str, text: str
) -> None:
    (sent,) = await deliver(channel, Answer("**Hot**. a_b!"), parseMode=mode)
    assert sent == Sent(Outcome.SENT, ref="501")
    assert server.of("sendMessage") == [{"chat_id": 5550001, "text": text, "parse_mode": mode}]


async def test_html_is_the_default_and_previews_can_be_left_out(
    channel: ChannelCalls, server: Telegram
) -> None:
    await deliver(channel, Answer("see https://example.org"), disableWebPagePreview=True)
    (message,) = server.of("sendMessage")
    assert message["parse_mode"] == "HTML"
    assert message["link_preview_options"] == {"is_disabled": True}


async def test_a_long_answer_goes_in_order_in_parts_within_the_limit(
    channel: ChannelCalls, server: Telegram
) -> None:
    words = " ".join(f"**w{number}** 🙂" for number in range(1500))
    sent = await deliver(channel, Answer(words))
    assert {each.outcome for each in sent} == {Outcome.SENT}
    assert len(sent) > 2
    assert [f"<b>w{n}</b>" in "".join(m["text"] for m in server.of("sendMessage")) for n in (0, 1499)]


async def test_in_the_topic_general_no_topic_is_named(channel: ChannelCalls, server: Telegram) -> None:
    """Telegram refuses its number, 1."""
    await deliver(channel, Answer("Hello"), {"chat_id": -100, "message_thread_id": 1})
    await channel.typing(CONFIG, {"chat_id": -100, "message_thread_id": 1})
    calls = [*server.of("sendMessage"), *server.of("sendChatAction")]
    assert len(calls) == 2
    assert all("message_thread_id" not in call for call in calls)


async def test_in_a_topic_the_first_part_replies_to_the_message(
    channel: ChannelCalls, server: Telegram
) -> None:
    await deliver(channel, Answer("x " * 3000), {"chat_id": -100, "message_thread_id": 7, "reply_to": 20})
    first, second = server.of("sendMessage")
    assert first["reply_parameters"] == {"message_id": 20, "allow_sending_without_reply": True}
    assert "reply_parameters" not in second
    assert first["message_thread_id"] == second["message_thread_id"] == 7


async def test_choices_are_buttons_under_the_last_part(channel: ChannelCalls, server: Telegram) -> None:
    await deliver(channel, Answer("May I?", choices=(Choice("Yes", "c:1:y"), Choice("No", "c:1:n"))))
    (message,) = server.of("sendMessage")
    assert message["reply_markup"]["inline_keyboard"] == [
        [{"text": "Yes", "callback_data": "c:1:y"}],
        [{"text": "No", "callback_data": "c:1:n"}],
    ]


async def test_pictures_go_as_photos_and_other_files_as_documents(
    channel: ChannelCalls, server: Telegram
) -> None:
    sent = await deliver(channel, Answer("", artifacts=(PHOTO, PLAN)))
    assert [each.outcome for each in sent] == [Outcome.SENT, Outcome.SENT]
    (photo,), (document,) = server.of("sendPhoto"), server.of("sendDocument")
    assert (photo["photo"].name, photo["photo"].content) == ("engine.png", BYTES)
    assert (document["document"].mime_type, document["document"].content) == ("application/pdf", BYTES)


async def test_what_is_no_picture_for_telegram_goes_as_a_document(
    channel: ChannelCalls, server: Telegram
) -> None:
    server.refuse["sendPhoto"] = "PHOTO_INVALID_DIMENSIONS"
    (sent,) = await deliver(channel, Answer("", artifacts=(PHOTO,)))
    assert sent.outcome is Outcome.SENT
    assert server.of("sendDocument")[0]["document"].content == BYTES


@pytest.mark.parametrize("file", [EMPTY, HUGE], ids=["empty", "over 50 MB"])
async def test_a_file_that_is_not_taken_goes_as_its_link(
    channel: ChannelCalls, server: Telegram, file: Artifact
) -> None:
    (sent,) = await deliver(channel, Answer("", artifacts=(file,)))
    assert sent.outcome is Outcome.SENT
    assert server.of("sendMessage") == [{"chat_id": 5550001, "text": f"{file.name}: {file.url}"}]


async def test_refused_markup_goes_as_plain_text(channel: ChannelCalls, server: Telegram) -> None:
    reply = refusal(400, "Bad Request: can't parse entities: Unsupported start tag")
    server.next_reply(reply.status, reply.json)
    (sent,) = await deliver(channel, Answer("**Hot** <x>"))
    assert sent.outcome is Outcome.SENT
    assert server.of("sendMessage") == [{"chat_id": 5550001, "text": "Hot <x>"}]


@pytest.mark.parametrize(
    ("words", "lost"),
    [
        ("message to be replied not found", "reply_parameters"),
        ("message thread not found", "message_thread_id"),
    ],
)
async def test_a_place_that_is_gone_is_left_out(
    channel: ChannelCalls, server: Telegram, words: str, lost: str
) -> None:
    reply = refusal(400, f"Bad Request: {words}")
    server.next_reply(reply.status, reply.json)
    (sent,) = await deliver(channel, Answer("Hi"), {"chat_id": -100, "message_thread_id": 7, "reply_to": 20})
    assert sent.outcome is Outcome.SENT
    (message,) = server.of("sendMessage")
    assert lost not in message
    assert len({"reply_parameters", "message_thread_id"} & set(message)) == 1


async def test_a_group_that_moved_is_followed(channel: ChannelCalls, server: Telegram) -> None:
    reply = refusal(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=-1009)
    server.next_reply(reply.status, reply.json)
    (sent,) = await deliver(channel, Answer("Hi"), {"chat_id": -9, "reply_to": 3})
    assert sent.outcome is Outcome.SENT
    assert server.of("sendMessage") == [{"chat_id": -1009, "text": "Hi", "parse_mode": "HTML"}]


async def test_a_server_that_repeats_itself_is_not_asked_forever(
    channel: ChannelCalls, server: Telegram
) -> None:
    server.refuse["sendMessage"] = "can't parse entities"
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is Outcome.PERMANENT
    assert len(server.of("sendMessage")) == 2


@pytest.mark.parametrize(
    ("status", "description", "outcome"),
    [
        (403, "Forbidden: bot was blocked by the user", Outcome.PERMANENT),
        (400, "Bad Request: chat not found", Outcome.PERMANENT),
        (401, "Unauthorized", Outcome.PERMANENT),
        (500, "Internal Server Error", Outcome.TRANSIENT),
        (502, "Bad Gateway", Outcome.TRANSIENT),
    ],
)
async def test_refusals_are_classified(
    channel: ChannelCalls, server: Telegram, status: int, description: str, outcome: Outcome
) -> None:
    server.next_reply(status, refusal(status, description).json)
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is outcome
    assert description in sent.detail


async def test_a_flood_is_waited_for(channel: ChannelCalls, server: Telegram) -> None:
    server.next_reply(429, refusal(429, "Too Many Requests", retry_after=7).json)
    (sent,) = await deliver(channel, Answer("Hi"))
    assert (sent.outcome, sent.retry_after) == (Outcome.RETRY_AFTER, 7)


async def test_an_answer_that_is_none_is_unknown(channel: ChannelCalls, server: Telegram) -> None:
    server.next_reply(200, body=b"<html>proxy</html>")
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is Outcome.UNKNOWN


async def test_a_broken_connection_is_unknown_and_tells_no_token(
    channel: ChannelCalls, server: Telegram
) -> None:
    server.drop()
    (sent,) = await deliver(channel, Answer("Hi"))
    assert sent.outcome is Outcome.UNKNOWN
    assert TOKEN not in sent.detail


async def test_a_server_that_hangs_is_unknown(channel: ChannelCalls, server: Telegram) -> None:
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


async def test_probes_with_get_me(channel: ChannelCalls) -> None:
    await channel.probe(CONFIG)
    with pytest.raises(PlatformError, match="Unauthorized"):
        await channel.probe({"botToken": "1:wrong"})


async def test_knows_its_name(channel: ChannelCalls) -> None:
    assert await channel.fetch_metadata(CONFIG) == {"username": USERNAME}


async def test_shows_that_it_writes(channel: ChannelCalls, server: Telegram) -> None:
    await channel.typing(CONFIG, {"chat_id": -100, "message_thread_id": 7, "reply_to": 2})
    assert server.of("sendChatAction") == [{"chat_id": -100, "message_thread_id": 7, "action": "typing"}]


async def test_a_pressed_prompt_loses_its_buttons(channel: ChannelCalls, server: Telegram) -> None:
    target = {"chat_id": 5550001, "callback_query_id": "99", "prompt_id": 30}
    await channel.close_prompt(CONFIG, target, CLOSED)
    assert server.of("answerCallbackQuery") == [{"callback_query_id": "99", "text": "Approved"}]
    (edit,) = server.of("editMessageText")
    assert (edit["message_id"], edit["text"]) == (30, "<b>Approved</b> it")
    assert edit["reply_markup"] == {"inline_keyboard": []}


async def test_another_button_stops_waiting(channel: ChannelCalls, server: Telegram) -> None:
    await channel.acknowledge_press(
        CONFIG, {"chat_id": 5550001, "callback_query_id": "99", "prompt_id": 30}, ""
    )
    await channel.acknowledge_press(CONFIG, TARGET, "")
    assert server.calls == [("answerCallbackQuery", {"callback_query_id": "99"})]


async def test_a_prompt_that_nobody_pressed_loses_its_buttons(
    channel: ChannelCalls, server: Telegram
) -> None:
    question = Answer("May I?", choices=(Choice("Yes", "y"),))
    (sent,) = await deliver(channel, question)
    (part,) = channel.render(CONFIG, TARGET, question)

    pressed = channel.prompt_target(CONFIG, TARGET, part, sent.ref, {})
    assert pressed
    await channel.close_prompt(CONFIG, pressed, CLOSED)

    assert server.of("answerCallbackQuery") == []
    (edit,) = server.of("editMessageText")
    assert (edit["message_id"], edit["text"]) == (501, "<b>Approved</b> it")


async def test_without_a_prompt_there_is_nothing_to_change(channel: ChannelCalls, server: Telegram) -> None:
    await channel.close_prompt(CONFIG, TARGET, CLOSED)
    assert server.calls == []


async def test_fetches_files(channel: ChannelCalls) -> None:
    photo = Attachment("photo.jpg", "image/jpeg", {"file_id": "AgFile1"})
    assert b"".join([piece async for piece in channel.fetch(CONFIG, photo)]) == b"\x89PNG picture"


async def test_a_file_that_is_not_given_out_says_why(channel: ChannelCalls, server: Telegram) -> None:
    film = Attachment("film.mp4", "video/mp4", {"file_id": "gone"})
    with pytest.raises(PlatformError, match="wrong file_id"):
        [piece async for piece in channel.fetch(CONFIG, film)]
    server.refuse["getFile"] = "file is too big"
    with pytest.raises(TooLarge, match="up to 20 MB"):
        [piece async for piece in channel.fetch(CONFIG, film)]


async def test_a_plain_text_is_sent_for_choices_without_words(
    channel: ChannelCalls, server: Telegram
) -> None:
    await deliver(channel, Answer("", choices=(Choice("Yes", "y"),)))
    assert server.of("sendMessage")[0]["reply_markup"]


def test_an_unknown_markup_is_html() -> None:
    assert MODEL.load({"parseMode": ["HTML"]}).mode == MODEL.load({"parseMode": "LaTeX"}).mode == "HTML"


async def test_a_message_that_answers_nothing_replies_to_none(channel: ChannelCalls) -> None:
    target = {
        "chat_id": -1001,
        "message_thread_id": 7,
        "reply_to": 5,
        "callback_query_id": "q",
        "prompt_id": 3,
    }
    assert channel.continued(target) == {"chat_id": -1001, "message_thread_id": 7}
