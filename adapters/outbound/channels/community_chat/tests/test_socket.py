"""The WebSocket against a scripted Mattermost server: what is for the bot comes in, also what was missed."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.common import reconnecting
from adapters.outbound.channels.community_chat import webhook
from adapters.outbound.channels.community_chat.channel import build
from adapters.outbound.channels.community_chat.config import CONFIG as MODEL
from adapters.outbound.channels.tests.calls import ChannelCalls, receiver
from adapters.outbound.channels.tests.listening import Listener
from adapters.outbound.channels.tests.support import SetClock, call, client, dependencies
from domain.channels.messages import Change, Quoted
from domain.refusals import Unavailable
from tests.support.platforms.mattermost import BOT, CHANNEL, FIRST_POST_AT, TOKEN, Mattermost
from tests.support.platforms.websocket import Peer

from .samples import CONFIG, POST

ANN = "u1m5kfr9ty3bdjpac4n8hq2xw7"
DIRECT = "d1m5kfr9ty3bdjpac4n8hq2xw7"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnecting, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(reconnecting, "LONGEST_PAUSE", 0.01)


@pytest.fixture
async def server() -> AsyncIterator[Mattermost]:
    async with Mattermost.run() as platform:
        yield platform


@pytest.fixture
def clock() -> SetClock:
    made = SetClock()
    made.advance(FIRST_POST_AT / 1000 - made.now().timestamp())
    return made


@pytest.fixture
async def listener(server: Mattermost, clock: SetClock) -> AsyncIterator[Listener]:
    async with client() as http:
        config = {"SERVER_URL": server.url, "channelId": CHANNEL, "token": TOKEN, "connection": "socket"}
        made = Listener(ChannelCalls(build(dependencies(http, clock=clock))), config)
        yield made
        await made.stop()


async def entered(server: Mattermost, listener: Listener) -> Peer:
    """Connects and waits until it listens."""
    listener.start()
    peer = await server.sockets.new.get()
    if listener.stored is None:
        await listener.cursors.get()
    return peer


async def test_direct_messages_and_mentions_come_in(server: Mattermost, listener: Listener) -> None:
    await entered(server, listener)
    server.write(ANN, "to nobody", CHANNEL)
    server.write(ANN, "@kitchenette not you", CHANNEL)
    server.write(BOT["id"], "@kitchen my own", CHANNEL)
    server.write(ANN, "joined @kitchen", CHANNEL, type="system_join_channel")
    server.write(ANN, "a hook's", CHANNEL, props={"from_webhook": "true"})
    server.write(ANN, "in private, @Kitchen: how hot?", "p4n8hq2xw7z1m5kfr9ty3bdjpa", "P")
    server.write(ANN, "Good morning", DIRECT, "D", file_ids=["f1"])
    mention, direct = await listener.events.get(), await listener.events.get()
    assert (mention.text, mention.is_direct) == ("in private, how hot?", False)
    assert (direct.text, direct.is_direct, direct.sender.display_name) == ("Good morning", True, "ann")
    assert [file.source for file in direct.attachments] == [{"fileId": "f1"}]
    assert direct.session_id == f"{DIRECT}:{ANN}"
    assert listener.recorder.ups == [True]


@pytest.mark.parametrize("program", ["from_bot", "from_webhook", "from_plugin"])
async def test_a_mention_by_a_program_is_refused(
    server: Mattermost, listener: Listener, program: str
) -> None:
    await entered(server, listener)
    server.write(ANN, "@kitchen how hot?", CHANNEL, props={program: "true"})
    event = await listener.events.get()
    assert (event.text, event.refused) == ("how hot?", "bot")


async def test_a_mention_in_a_channel_that_is_not_allowed_is_refused(
    server: Mattermost, listener: Listener
) -> None:
    listener.config |= {"allowedChannels": "c1", "requireMention": False}
    await entered(server, listener)
    server.write(ANN, "to nobody", CHANNEL)
    server.write(ANN, "@kitchen how hot?", CHANNEL)
    event = await listener.events.get()
    assert (event.text, event.refused) == ("how hot?", "channel")


async def test_a_post_is_the_event_of_its_outgoing_webhook(server: Mattermost, listener: Listener) -> None:
    await entered(server, listener)
    post = server.write(ANN, "@kitchen how hot?", CHANNEL)
    posted = {
        "token": POST["token"],
        "channel_id": CHANNEL,
        "channel_name": "a-channel",
        "user_id": ANN,
        "user_name": "ann",
        "post_id": post["id"],
        "text": "@kitchen how hot?",
        "trigger_word": "",
    }
    bot = {"userId": BOT["id"], "username": "kitchen"}
    (event,) = receiver(webhook, MODEL)(CONFIG, call(as_json=posted), bot).events
    came = await listener.events.get()
    assert (came.key, came.session_id, came.text, came.sender, came.target, came.ids) == (
        event.key,
        event.session_id,
        event.text,
        event.sender,
        event.target,
        event.ids,
    )


async def test_what_was_missed_is_read_by_the_next_connection(server: Mattermost, listener: Listener) -> None:
    peer = await entered(server, listener)
    server.write(ANN, "first", DIRECT, "D")
    assert (await listener.events.get()).text == "first"
    server.record(ANN, "while nobody listened", DIRECT, "D")
    server.record(ANN, "@kitchen nor here", CHANNEL)
    server.record(ANN, "to nobody", CHANNEL)
    peer.say(1006 - 5)
    assert (await listener.events.get()).text == "first", "it was made shortly before; its key is the same"
    assert (await listener.events.get()).text == "while nobody listened"
    assert (await listener.events.get()).text == "nor here"
    assert "broke" in await listener.recorder.troubles.get()
    server.write(ANN, "again", DIRECT, "D")
    assert (await listener.events.get()).text == "again"


async def test_another_process_goes_on_where_this_one_ended(server: Mattermost, listener: Listener) -> None:
    server.record(ANN, "long ago", DIRECT, "D", create_at=FIRST_POST_AT - 86_400_000)
    server.record(ANN, "missed", DIRECT, "D")
    listener.stored = {"since": FIRST_POST_AT}
    await entered(server, listener)
    assert (await listener.events.get()).text == "missed"


async def test_what_is_a_day_old_is_not_answered(
    server: Mattermost, listener: Listener, clock: SetClock
) -> None:
    listener.stored = {"since": FIRST_POST_AT}
    server.record(ANN, "two days ago", DIRECT, "D")
    clock.advance(2 * 86_400)
    await entered(server, listener)
    server.write(ANN, "now", DIRECT, "D")
    assert (await listener.events.get()).text == "now"


async def test_the_cursor_follows_posts_that_are_not_for_the_bot(
    server: Mattermost, listener: Listener
) -> None:
    server.record(ANN, "long ago", CHANNEL, create_at=FIRST_POST_AT - 1)
    await entered(server, listener)
    assert listener.stored == {"since": FIRST_POST_AT, "first": FIRST_POST_AT}
    server.write(ANN, "to nobody", CHANNEL, create_at=FIRST_POST_AT + 59_000)
    server.write(ANN, "to nobody", CHANNEL, create_at=FIRST_POST_AT + 61_000)
    assert await listener.cursors.get() == {"since": FIRST_POST_AT + 61_000, "first": FIRST_POST_AT}


async def test_what_was_written_before_the_first_connection_is_not_answered(
    server: Mattermost, listener: Listener
) -> None:
    server.record(ANN, "before", DIRECT, "D")
    peer = await entered(server, listener)
    server.record(ANN, "after", DIRECT, "D")
    peer.say(1001)
    assert (await listener.events.get()).text == "after"


async def test_a_gap_in_the_numbers_is_closed(server: Mattermost, listener: Listener) -> None:
    peer = await entered(server, listener)
    server.record(ANN, "lost on the way", DIRECT, "D")
    peer.say({"event": "typing", "data": {}, "seq": 7})
    assert "lost events" in await listener.recorder.troubles.get()
    assert (await listener.events.get()).text == "lost on the way"


async def test_what_could_not_be_stored_comes_again(server: Mattermost, listener: Listener) -> None:
    await entered(server, listener)
    listener.broken.append(Unavailable("the database is away"))
    server.write(ANN, "not stored", DIRECT, "D")
    assert listener.running is not None
    with pytest.raises(Unavailable):
        await listener.running
    await entered(server, listener)
    assert (await listener.events.get()).text == "not stored"


async def test_a_token_that_is_refused_is_told(server: Mattermost, listener: Listener) -> None:
    server.next_reply(200, BOT)
    listener.config = {**listener.config, "token": "wrong"}
    listener.start()
    assert "Invalid session token" in await listener.recorder.troubles.get()


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "[]",
        "{",
        {"event": "posted"},
        {"event": "posted", "data": {"post": "{"}},
        {"event": "posted", "data": {"post": "[1]", "channel_type": "D"}},
        {"event": "posted", "data": {"post": '{"id": "x"}', "channel_type": "D"}},
        {
            "event": "posted",
            "data": {"post": '{"id": "x", "create_at": "y", "message": 1}', "channel_type": "D"},
        },
        {"event": 5, "seq": "x"},
    ],
)
async def test_odd_frames_are_passed_over(server: Mattermost, listener: Listener, odd: Any) -> None:
    peer = await entered(server, listener)
    peer.say(odd)
    server.write(ANN, "Good morning", DIRECT, "D")
    assert (await listener.events.get()).text == "Good morning"


async def test_the_outbound_policy_applies(server: Mattermost, clock: SetClock) -> None:
    async with client() as http:
        policed = dependencies(http, clock=clock, policy="public-only")
        config = {"SERVER_URL": server.url, "channelId": CHANNEL, "token": TOKEN, "connection": "socket"}
        listener = Listener(ChannelCalls(build(policed)), config)
        listener.start()
        assert "policy forbids 127.0.0.1" in await listener.recorder.troubles.get()
        await listener.stop()
    assert server.sockets.all == []


async def test_only_instances_with_a_socket_want_one(listener: Listener) -> None:
    assert listener.channel.wants(listener.config, {})
    assert not listener.channel.wants(CONFIG, {})
    assert not listener.channel.wants({**CONFIG, "connection": "webhook"}, {})
    assert "WebSocket" in listener.channel.note(listener.config, {})


async def test_posts_of_threads_come_in_to_be_followed(server: Mattermost, listener: Listener) -> None:
    await entered(server, listener)
    root = server.write(ANN, "look at this", CHANNEL)["id"]
    server.write(ANN, "and this", CHANNEL, root_id=root)
    server.write(ANN, "@kitchen what is it?", CHANNEL, root_id=root)
    followed, mention = await listener.events.get(), await listener.events.get()
    assert (followed.text, followed.only_followed) == ("and this", True)
    assert (mention.text, mention.only_followed) == ("what is it?", False)
    assert {followed.session_id, mention.session_id} == {f"{CHANNEL}:{root}"}
    assert mention.quoted == Quoted(ref=root, key=root)


async def test_the_latest_posts_before_the_mention_are_read(server: Mattermost, listener: Listener) -> None:
    root = server.record(ANN, "look at this", CHANNEL)["id"]
    for number in range(30):
        server.record(BOT["id"] if number % 2 else ANN, f"post {number}", CHANNEL, root_id=root)
    called = server.record(ANN, "@kitchen what is it?", CHANNEL, root_id=root)["id"]
    server.record(ANN, "later", CHANNEL, root_id=root)
    target = {"channel": CHANNEL, "root": root}
    found = await listener.channel.read_thread(listener.config, target, called, 20)
    assert [earlier.text for earlier in found] == [f"post {number}" for number in range(10, 30)]
    assert [earlier.author for earlier in found[:2]] == [f"name-of-{ANN[:2]}", "resource"]
    assert found[0].at < found[1].at


@pytest.mark.parametrize(
    ("settings", "text"),
    [({"followThreads": False}, "and this"), ({"allowedChannels": "c1"}, "and this")],
)
async def test_settings_keep_posts_out(
    server: Mattermost, listener: Listener, settings: dict[str, str], text: str
) -> None:
    listener.config |= settings
    await entered(server, listener)
    server.write(ANN, text, CHANNEL, root_id="p" * 26)
    server.write(ANN, "Good morning", DIRECT, "D")
    assert (await listener.events.get()).text == "Good morning"


async def test_without_a_required_mention_all_posts_come_in(server: Mattermost, listener: Listener) -> None:
    listener.config |= {"requireMention": False}
    await entered(server, listener)
    server.write(ANN, "to nobody", CHANNEL)
    event = await listener.events.get()
    assert (event.text, event.only_followed, event.session_id) == ("to nobody", False, f"{CHANNEL}:{ANN}")


async def test_edits_and_deletions_come_in(server: Mattermost, listener: Listener) -> None:
    await entered(server, listener)
    post = server.write(ANN, "how hoot?", DIRECT, "D")
    first = await listener.events.get()
    server.change("post_edited", post)  # a preview of a link
    server.change("post_edited", post, message="how hot?", edit_at=FIRST_POST_AT + 5)
    edited = await listener.events.get()
    assert (edited.text, edited.change, edited.is_direct) == ("how hot?", Change.EDITED, True)
    assert (edited.message_id, edited.session_id) == (first.message_id, first.session_id)
    assert edited.key == f"{post['id']}:{FIRST_POST_AT + 5}"
    server.change("post_deleted", {**post, "user_id": BOT["id"]})
    server.change("post_deleted", post, delete_at=FIRST_POST_AT + 9)
    deleted = await listener.events.get()
    assert (deleted.message_id, deleted.change) == (first.message_id, Change.DELETED)
    assert listener.events.empty()
