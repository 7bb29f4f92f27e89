"""What the contract suite needs of this channel."""

import json
from collections.abc import Callable
from pathlib import Path

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.community_chat import webhook
from adapters.outbound.channels.community_chat.config import CONFIG as MODEL
from adapters.outbound.channels.community_chat.config import MattermostTarget
from adapters.outbound.channels.community_chat.webhook import Post, attached, read_post
from adapters.outbound.channels.tests.sample import Opening, Reply, Sample
from adapters.outbound.channels.tests.support import NOW, call, refusal
from domain.channels.messages import Attachment, Event, RawCall
from ports.http import HttpAnswer, HttpRequest

FIXTURES = Path(__file__).parents[1] / "fixtures"
POST = json.loads((FIXTURES / "outgoing_webhook.json").read_text())
COMMAND = json.loads((FIXTURES / "slash_command.json").read_text())

CONFIG = {
    "SERVER_URL": "https://chat.example",
    "channelId": "d4n8hq2xw7z1m5kfr9ty3bdjpa",
    "token": "t0kenoftheapiq9m4w8d2hr6tb",
    "webhookToken": POST["token"],
}
ROOM, DIRECT = CONFIG["channelId"], "c5n8hq2xw7z1m5kfr9ty3bdjpa"
OWN, PERSON = "b1r5xk8mz2d7f4qhw9tbnc3yja", POST["user_id"]


def answer(**body: str) -> HttpAnswer:
    return HttpAnswer(200, {}, json.dumps(body).encode())


def sends_to(channel: str) -> Callable[[HttpRequest], bool]:
    return lambda request: text(request.json, "channel_id") == channel


def written() -> Event:
    """The event of a direct message."""
    post = call(as_json={**POST, "channel_id": DIRECT, "channel_name": f"{OWN}__{PERSON}"})
    return webhook.receive(MODEL.load(CONFIG), post, {}, NOW).events[0]


def pressed(**context: str) -> RawCall:
    """The press of a button of a post, whose context is changed before the server sends it."""
    config, target = MODEL.load(CONFIG), MattermostTarget(channel=ROOM)
    props = attached(config, target, "https://bot.example/press", [("Large", "choice:out-1:0:a")])
    [action] = props["attachments"][0]["actions"]
    body = {name: POST[name] for name in ("user_id", "user_name", "channel_id", "channel_name")}
    body |= {"post_id": "p1", "trigger_id": "t1", "type": "button"}
    return call(as_json={**body, "context": {**action["integration"]["context"], **context}})


def replied() -> Event:
    """The event of a command in a thread."""
    command = call(form={**COMMAND, "root_id": ROOM})
    return webhook.receive(MODEL.load(CONFIG), command, {}, NOW).events[0]


def elsewhere() -> Event:
    """The event of a message in a channel where the bot may not answer."""
    config = MODEL.load({**CONFIG, "allowedChannels": "c1"})
    return webhook.receive(config, call(as_json=POST), {}, NOW).events[0]


def of_bot() -> Event:
    """The event of a mention by another bot."""
    body = {"id": "p1", "user_id": "u1", "channel_id": ROOM, "message": "@kitchen how hot?"}
    post = Post({**body, "props": {"from_bot": "true"}}, {"type": "O", "name": "works"})
    event = read_post(MODEL.load(CONFIG), post, {"userId": OWN, "username": "kitchen"})
    assert event is not None
    return event


SAMPLE = Sample(
    fields=(
        "SERVER_URL string R, channelId string R, token string R, webhookToken string, connection string, "
        "ackReaction string, identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean, requireMention boolean, allowedChannels string, "
        "followThreads boolean, replyInThread boolean"
    ),
    reacted_to="post1",
    typing_shown_seconds=5.0,
    attachment=Attachment("a.png", "image/png", {"fileId": "f1"}),
    config=CONFIG,
    genuine={
        "post": call(as_json=POST),
        "form": call(form=POST),
        "command": call(form=COMMAND),
        "press": pressed(),
    },
    forged={
        "token": call(as_json={**POST, "token": "p7w4xk1mq9d3f8zrh6tbnc5yaX"}),
        "no token": call(as_json={**POST, "token": ""}),
        "press without signature": pressed(signature=""),
        "press of another choice": pressed(choice="choice:out-1:1:a"),
        "press in another channel": pressed(channel=DIRECT),
        "press in another thread": pressed(root="p2"),
    },
    target={"channel": "c4n8hq2xw7z1m5kfr9ty3bdjpa", "root": ""},
    shown=lambda part: str(part.payload["message"]),
    openings=(
        Opening(ROOM, ROOM, sends_to(ROOM), asked=[answer(id=ROOM, type="O", name="town-square")]),
        Opening(
            DIRECT,
            f"{DIRECT}:{PERSON}",
            sends_to(DIRECT),
            asked=[answer(id=DIRECT, type="D", name=f"{OWN}__{PERSON}"), answer(id=OWN)],
            answered=written,
        ),
        Opening(
            f"user:{PERSON}",
            f"{DIRECT}:{PERSON}",
            sends_to(DIRECT),
            asked=[answer(id=OWN), answer(id=DIRECT, type="D")],
            answered=written,
        ),
        Opening(
            PERSON,
            f"{DIRECT}:{PERSON}",
            sends_to(DIRECT),
            asked=[HttpAnswer(404, {}, b"{}"), answer(id=OWN), answer(id=DIRECT, type="D")],
            answered=written,
        ),
    ),
    no_addresses=("town-square", "@maria", "user:maria", ROOM.upper(), ROOM[:-1], "C0123456789"),
    replies=(
        Reply(
            replied,
            "It is hot.",
            "bob",
            asked=[
                answer(id=ROOM, message="It is hot.", user_id=PERSON),
                answer(id=OWN),
                HttpAnswer(200, {}, json.dumps([{"id": PERSON, "username": "bob"}]).encode()),
            ],
        ),
    ),
    refused={"channel": elsewhere, "bot": of_bot},
    of_recipient=[
        refusal(403, id="api.context.permissions.app_error", message="no"),
        refusal(400, id="api.post.create_post.can_not_post_to_deleted.error", message="no"),
        refusal(404, id="app.channel.get.existing.app_error", message="no"),
    ],
)
