"""The web chat shows answers to visitors, and knows who signed visitors are."""

from datetime import datetime, timedelta
from typing import Any

import jwt
import pytest

from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import NOW, Chats, Files, dependencies
from adapters.outbound.channels.web_chat.channel import build
from adapters.outbound.channels.web_chat.config import CONFIG as MODEL
from adapters.outbound.channels.web_chat.config import (
    WebChatConfig,
    colour_fault,
    origins_fault,
    origins_of,
    secret_fault,
)
from adapters.outbound.channels.web_chat.tests.samples import CONFIG, SECRET, TARGET
from domain.channels.answers import Answer, Artifact, Author, Choice, ClosedPrompt
from domain.channels.messages import Attachment, Outcome
from domain.refusals import Unauthenticated
from domain.web_chat.model import SignedIdentity
from ports.http import HttpAnswer


class Scene:
    def __init__(self, files: Files | None = None) -> None:
        self.chats = Chats()
        http = Scripted((), HttpAnswer(200, {}, b""))
        self.channel = ChannelCalls(build(dependencies(http, files=files, chats=self.chats)))

    async def send(self, answer: Answer) -> list[Any]:
        """The ids of its messages."""
        messages = self.channel.render(CONFIG, TARGET, answer)
        sent = [
            await self.channel.send(CONFIG, TARGET, message, f"k:{at}") for at, message in enumerate(messages)
        ]
        assert {each.outcome for each in sent} <= {Outcome.SENT}
        return [each.ref for each in sent]

    def shown(self) -> list[dict[str, Any]]:
        return [dict(message.body) for message in self.chats.messages.values()]


def identified(config: WebChatConfig, signed: str, now: datetime) -> SignedIdentity:
    site = Scene().channel.channel.chat_site
    assert site
    return site.identified(config, signed, now)


FILE = Artifact("plan.pdf", "application/pdf", "https://bot.example/plan", "0" * 64, 3)


async def test_an_answer_is_one_message_with_its_files() -> None:
    scene = Scene()
    assert await scene.send(Answer("**Two** years.", (FILE,), author=Author.RESOURCE)) == ["k:0"]
    assert scene.shown() == [
        {
            "from": "agent",
            "content": [["p", {}, ["strong", {}, "Two"], " years."]],
            "files": [{"name": "plan.pdf", "mimeType": "application/pdf", "size": 3, "url": FILE.url}],
            "choices": [],
        }
    ]


async def test_a_question_stands_apart_with_its_buttons_until_it_is_decided() -> None:
    scene = Scene()
    answer = Answer(
        "It costs 5.\n\nBuy it?", choices=(Choice("Yes", "y"), Choice("No", "n")), question="Buy it?"
    )
    _, ref = await scene.send(answer)
    assert [message["choices"] for message in scene.shown()] == [
        [],
        [{"label": "Yes", "value": "y"}, {"label": "No", "value": "n"}],
    ]
    question = scene.channel.render(CONFIG, TARGET, answer)[1]
    target = scene.channel.prompt_target(CONFIG, TARGET, question, ref, None)
    await scene.channel.close_prompt(CONFIG, target, ClosedPrompt("**Yes**\n\nBuy it?", "Yes", "Yes"))
    closed = scene.shown()[1]
    assert (closed["choices"], closed["from"]) == ([], "system")
    assert closed["content"][0] == ["p", {}, ["strong", {}, "Yes"]]


async def test_an_answer_takes_the_place_of_its_draft() -> None:
    scene = Scene()
    message = scene.channel.preview(CONFIG, TARGET).render("Two ye")
    sent = await scene.channel.draft(CONFIG, TARGET, message, "", "draft:1")
    assert scene.chats.messages["draft:1"].draft
    await scene.send(Answer("Two years.", draft=sent.ref))
    assert list(scene.chats.messages) == ["draft:1"]
    assert not scene.chats.messages["draft:1"].draft
    assert scene.shown()[0]["content"] == [["p", {}, "Two years."]]


async def test_a_draft_without_an_answer_is_removed() -> None:
    scene = Scene()
    await scene.send(Answer("", draft="draft:1"))
    assert scene.chats.removed == ["draft:1"]


async def test_nothing_unfinished_is_shown_in_a_conversation_that_was_erased() -> None:
    scene = Scene()
    scene.chats.exists = False
    message = scene.channel.preview(CONFIG, TARGET).render("Two ye")
    sent = await scene.channel.draft(CONFIG, TARGET, message, "", "draft:1")
    assert sent.outcome is Outcome.PERMANENT
    assert scene.chats.messages == {}


async def test_while_the_database_is_away_messages_are_tried_again() -> None:
    scene = Scene()
    scene.chats.away = True
    (message,) = scene.channel.render(CONFIG, TARGET, Answer("Hello"))
    draft = scene.channel.preview(CONFIG, TARGET).render("Hel")
    for sent in (
        await scene.channel.send(CONFIG, TARGET, message, "k:0"),
        await scene.channel.draft(CONFIG, TARGET, draft, "", "draft:1"),
        await scene.channel.typing(CONFIG, TARGET),
    ):
        assert sent.outcome is Outcome.TRANSIENT


async def test_a_press_that_decides_nothing_is_explained_to_the_visitor() -> None:
    scene = Scene()
    await scene.channel.acknowledge_press(CONFIG, TARGET, "")
    await scene.channel.acknowledge_press(CONFIG, TARGET, "This was decided already.")
    (notice,) = scene.shown()
    assert (notice["from"], notice["content"]) == ("system", [["p", {}, "This was decided already."]])


async def test_the_files_of_visitors_are_read_from_our_own_copy() -> None:
    scene = Scene(Files(plan=b"%PDF"))
    attachment = Attachment("plan", "application/pdf", {"blob": "0" * 64})
    pieces = [piece async for piece in scene.channel.fetch(CONFIG, attachment)]
    assert b"".join(pieces) == b"%PDF"


def test_origins_are_compared_as_browsers_name_them() -> None:
    text = "https://WWW.example.com:443/, http://localhost:8080 ,https://[::1]:8443,"
    assert origins_of(text) == {"https://www.example.com", "http://localhost:8080", "https://[::1]:8443"}
    assert origins_fault(text) is None


@pytest.mark.parametrize(
    "text",
    ["example.com", "https://a.example/shop", "ftp://a.example", "https://", "*", "https://a:b", "null"],
)
def test_what_is_no_origin_is_refused(text: str) -> None:
    assert "is not an origin" in (origins_fault(text) or "")


def test_other_fields_are_checked() -> None:
    assert [bool(colour_fault(colour)) for colour in ("red", "#0B5fff")] == [True, False]
    assert [bool(secret_fault(secret)) for secret in ("short", SECRET)] == [True, False]


def token(secret: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    content = {"sub": "42", "exp": NOW + timedelta(minutes=5), **claims}
    given = {name: value for name, value in content.items() if value is not None}
    return jwt.encode(given, secret, algorithm=algorithm)


def test_a_signed_visitor_is_known() -> None:
    signed = token(name="Ann", email="ann@example.com", iat=NOW + timedelta(hours=1), aud="us")
    identity = identified(MODEL.load(CONFIG), signed, NOW)
    assert (identity.subject, identity.name, identity.email) == ("42", "Ann", "ann@example.com")


@pytest.mark.parametrize(
    "forged",
    [
        token("another secret of the same length, or more"),
        token("", "none"),
        token(algorithm="HS512", secret=SECRET * 2),
        token(exp=None),
        token(exp=NOW - timedelta(seconds=1)),
        token(exp=2**70),
        token(sub=None),
        token(sub=""),
        token(sub="x" * 201),
        token(sub="a\nb"),
        token()[:-2],
        token(name="x" * 5000),
        "",
        "a.b.c",
        "\N{SNOWMAN}",
        "x" * 100_000,
    ],
)
def test_a_forged_visitor_is_refused(forged: str) -> None:
    with pytest.raises(Unauthenticated):
        identified(MODEL.load(CONFIG), forged, NOW)


def test_without_a_secret_nobody_is_known() -> None:
    with pytest.raises(Unauthenticated, match="identitySecret"):
        identified(MODEL.load({}), token(secret="x" * 40), NOW)
