"""What every channel keeps, whatever its platform: a suite for the tests of a channel's folder or of a plugin.

class TestContract(ChannelContract):
    build = staticmethod(build)
    sample = SAMPLE
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.sample import Sample, Scripted
from adapters.outbound.channels.tests.support import NOW, dependencies
from domain.channels.answers import Answer, Choice, OutboundMessage
from domain.channels.messages import Outcome, RawCall, Received, Sent
from domain.channels.model import TextLimit, Unit
from domain.channels.rich import Card, CardField, Contact, LinkButton, Location, RichContent
from domain.conversations.choices import offered
from domain.conversations.model import MessageId, MessageKind
from domain.conversations.rich_text import with_text
from domain.refusals import Refusal
from domain.rendering import render_answer
from ports.channels import Channel, ChannelDependencies
from ports.http import AddressRefused, HttpAnswer, HttpFailed

OK = HttpAnswer(200, {}, b"{}")
TEXTS = {
    "words": " ".join(f"word{number}" for number in range(6000)),
    "emoji": " ".join(["\N{FAMILY}\N{ZERO WIDTH JOINER}\N{FAMILY}"] * 3000),
    "lines": "\n".join(f"line {number}" for number in range(3000)),
}
ANSWERS = [
    (HttpAnswer(429, {"retry-after": "7"}, b""), {Outcome.RETRY_AFTER}),
    (HttpAnswer(500, {}, b""), {Outcome.TRANSIENT}),
    (HttpAnswer(502, {}, b"<html>Bad gateway</html>"), {Outcome.TRANSIENT}),
    (HttpAnswer(410, {}, b""), {Outcome.PERMANENT}),
    (HttpFailed("connection refused", before_request=True), {Outcome.TRANSIENT}),
    (HttpFailed("connection reset", before_request=False), {Outcome.UNKNOWN}),
    (AddressRefused("private address"), {Outcome.PERMANENT}),
]
CONTENT = RichContent(
    buttons=(
        *(LinkButton(f"{number} {'label ' * 12}", f"https://shop.example/{number}") for number in range(8)),
        LinkButton("Call", "tel:+4399999"),
        LinkButton("Long", f"https://shop.example/{'long' * 150}"),
    ),
    cards=(
        Card(
            "Pump P7",
            "A quiet one",
            "https://shop.example/p7.png",
            (CardField("Price", "20 EUR"),),
            (LinkButton("Manual", "https://shop.example/manual"),),
        ),
    ),
    location=Location(48.2082, 16.3738, "Our shop", "Graben 1"),
    contact=Contact("Eve Smith", ("+4312345",), ("eve@example.org",)),
)
TYPING_ANSWERS = [
    (HttpAnswer(429, {"retry-after": "7"}, b""), Outcome.RETRY_AFTER),
    (HttpAnswer(503, {}, b""), Outcome.TRANSIENT),
    (HttpAnswer(403, {}, b"{}"), Outcome.PERMANENT),
    (HttpFailed("connection reset", before_request=False), Outcome.UNKNOWN),
]


Test = TypeVar("Test", bound=Callable[..., Any])


def requires(*names: str) -> Callable[[Test], Test]:
    """A test for channels with these capabilities, or whose sample has these values."""

    def mark(test: Test) -> Test:
        test.required = names  # type: ignore[attr-defined]
        return test

    return mark


class ChannelContract:
    """`page` is the channel's page in the docs, where it has one."""

    build: Callable[[ChannelDependencies], Channel[Any, Any]]
    sample: Sample
    page: Path | None = None

    def built(self, then: HttpAnswer | HttpFailed = OK) -> ChannelCalls:
        http = Scripted(self.sample.prelude, then)
        return ChannelCalls(type(self).build(dependencies(http, self.sample.addresses)))

    def __init_subclass__(cls) -> None:
        """Leaves out the tests of what the channel does not have."""
        channel = cls().built().channel
        values = {"page": cls.page}
        for name, test in vars(ChannelContract).items():
            for required in getattr(test, "required", ()):
                own = getattr(channel, required, None) or getattr(cls.sample, required, None)
                if not (own or values.get(required)):
                    setattr(cls, name, None)

    def received(self, call: RawCall) -> Received:
        received: Received = self.built().receive(self.sample.config, call, self.sample.metadata, NOW)
        return received

    def test_the_fields_are_those_of_the_contract(self) -> None:
        fields = self.built().definition.fields
        described = [f"{field.name} {field.type}{' R' if field.required else ''}" for field in fields]
        assert ", ".join(described) == self.sample.fields

    def test_everything_is_explained(self) -> None:
        definition = self.built().definition
        texts = [definition.name, definition.description, definition.setup.title, *definition.setup.steps]
        texts += [field.description for field in definition.fields]
        assert all(text.strip() == text and text for text in texts)
        assert len(definition.setup.steps) >= 2
        assert definition.setup.docs_url.startswith("https://")
        assert definition.setup.webhook_path

    @requires("page")
    def test_the_page_names_every_field(self) -> None:
        assert self.page is not None
        page = self.page.read_text()
        assert [field.name for field in self.built().definition.fields if f"`{field.name}`" not in page] == []

    @requires("webhook", "genuine")
    def test_a_genuine_call_gives_an_event_that_can_be_stored(self) -> None:
        for call in self.sample.genuine.values():
            (event,) = self.received(call).events
            assert event.session_id
            assert event.sender.external_id
            sources = [dict(attachment.source) for attachment in event.attachments]
            stored = [event.text, dict(event.target), sources, dict(event.raw)]
            assert json.loads(json.dumps(stored)) == stored

    @requires("webhook", "genuine")
    def test_the_same_delivery_is_the_same_event(self) -> None:
        for call in self.sample.genuine.values():
            first = self.received(call).events[0]
            second = self.received(replace(call, id="00000000-0000-4000-8000-000000000001")).events[0]
            assert (first.key, first.session_id) == (second.key, second.session_id)

    @requires("webhook", "genuine")
    def test_a_call_is_acknowledged(self) -> None:
        for call in self.sample.genuine.values():
            answer = self.received(call).answer
            assert 200 <= answer.status < 300
            assert not answer.body or "content-type" in {name.lower() for name in answer.headers}

    def test_messages_are_refused_for_the_reasons_that_are_declared(self) -> None:
        events = {reason: make() for reason, make in self.sample.refused.items()}
        assert {reason: event.refused for reason, event in events.items()} == {
            reason: reason for reason in self.built().channel.refusals
        }
        assert all(event.has_content and event.session_id and event.key for event in events.values())

    @requires("page", "refusals")
    def test_the_page_names_the_reasons_why_messages_are_refused(self) -> None:
        assert self.page is not None
        page = self.page.read_text()
        assert [reason for reason in self.built().channel.refusals if f"`{reason}`" not in page] == []

    @requires("webhook", "forged")
    def test_a_forged_call_is_refused(self) -> None:
        for call in self.sample.forged.values():
            with pytest.raises(Refusal):
                self.received(call)

    @requires("webhook")
    @settings(max_examples=30, suppress_health_check=list(HealthCheck), deadline=None)
    @given(
        body=st.binary(max_size=60)
        | st.sampled_from([b"{}", b"[]", b"null", b'{"a": 1}', b"a=1", b"[" * 5000]),
        method=st.sampled_from(["GET", "POST", "PUT", "DELETE"]),
        callback=st.sampled_from(["webhook", "manual_trigger", "x"]),
        content_type=st.sampled_from(
            ["application/json", "application/x-www-form-urlencoded", "", "\N{SNOWMAN}"]
        ),
    )
    def test_hostile_calls_are_read_or_refused(
        self, body: bytes, method: str, callback: str, content_type: str
    ) -> None:
        url = f"https://switchboard.example/api/agent/channels/any/7/{callback}"
        try:
            self.received(RawCall("id", method, callback, url, {"content-type": content_type}, body))
        except Refusal:
            return

    @requires("sender", "shown")
    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
    def test_messages_are_within_the_limit_and_lose_nothing(self, text: str) -> None:
        channel = self.built()
        assert self.sample.shown is not None
        shown = [self.sample.shown(message) for message in self.rendered(channel, Answer(text))]
        limit = channel.definition.text_limit or TextLimit(10**9)
        assert all(measured(each, limit.unit) <= limit.size for each in shown)
        assert " ".join(shown).split() == text.split()

    @requires("sender")
    def test_messages_can_be_stored(self) -> None:
        for message in self.rendered(self.built(), Answer("**Hello**")):
            assert json.loads(json.dumps(dict(message.payload))) == message.payload

    def rendered(self, channel: ChannelCalls, answer: Answer) -> list[OutboundMessage]:
        return list(channel.render(self.sample.config, self.sample.target, answer))

    @requires("prompt_closer")
    def test_the_message_with_the_buttons_can_be_replaced_without_a_press(self) -> None:
        channel = self.built()
        config, target = self.sample.config, self.sample.target
        for choices in ((), (Choice("Approve", "c:1"), Choice("Reject", "c:2"))):
            messages = self.rendered(channel, Answer("May I? " * 2000, choices=choices))
            pressed = [channel.prompt_target(config, target, message, "17", {}) for message in messages]
            expected = [False] * (len(messages) - 1) + [bool(choices)]
            assert [each is not None for each in pressed] == expected
            assert json.loads(json.dumps(pressed)) == pressed

    def offering(self, count: int) -> Answer:
        """An answer with references as long as they get."""
        choices = tuple(Choice(f"Choice {number}", f"value {number}") for number in range(1, count + 1))
        message = MessageId(MessageKind.SENT_FIRST, 10**18 - 1)
        return offered(Answer("Which one?", choices=choices), message, "secret", "https://bot.example/press")

    async def sent_texts(self, answer: Answer) -> list[str]:
        """The messages of an answer as JSON texts, as the engine renders it."""
        channel = self.built().channel
        config, target = channel.config.load(self.sample.config), channel.target.load(self.sample.target)
        messages, _ = await render_answer(channel, config, target, answer)
        return [json.dumps(dict(message.payload), ensure_ascii=False) for message in messages]

    def button_count(self) -> int:
        channel = self.built().channel
        return channel.buttons(
            channel.config.load(self.sample.config), channel.target.load(self.sample.target)
        )

    @requires("sender")
    async def test_as_many_choices_as_a_message_has_buttons_are_buttons(self) -> None:
        if not (count := self.button_count()):
            return
        answer = self.offering(count)
        texts = await self.sent_texts(answer)
        assert all(len(choice.reference.encode()) <= 64 for choice in answer.choices)
        [last] = [text for text in texts if "Choice 1" in text]
        assert all(choice.reference in last or choice.value in last for choice in answer.choices)
        assert "1. Choice 1" not in last

    @requires("sender")
    async def test_more_choices_than_a_message_has_buttons_are_a_numbered_list(self) -> None:
        answer = self.offering(self.button_count() + 1)
        shown = "".join(await self.sent_texts(answer))
        if not shown:
            return  # the channel sends nothing
        assert "choice:" not in shown
        assert all(choice.label in shown for choice in answer.choices)
        assert "value 1" not in shown

    @requires("streaming", "over_http")
    async def test_an_answer_in_place_of_its_draft_has_its_buttons(self) -> None:
        http = Scripted(self.sample.prelude, OK)
        channel = ChannelCalls(type(self).build(dependencies(http, self.sample.addresses)))
        answer = self.offering(2)
        for number, message in enumerate(self.rendered(channel, replace(answer, draft="17"))):
            await channel.send(self.sample.config, self.sample.target, message, f"key-{number}")
        sent = "".join(str(request.json) for request in http.requests)
        assert all(choice.reference in sent for choice in answer.choices)

    @requires("sender")
    async def test_labels_of_any_length_can_be_sent(self) -> None:
        count = max(1, self.button_count())
        choices = tuple(
            Choice("\N{FAMILY} a label that is far too long " * 4 + str(number), str(number))
            for number in range(count)
        )
        assert all(text for text in await self.sent_texts(Answer("Which one?", choices=choices)))

    @requires("sender")
    async def test_rich_content_is_shown_whole_natively_or_as_text(self) -> None:
        answer = with_text(Answer("Here you are", rich=CONTENT), self.built().channel.rich_kinds)
        shown = "".join(await self.sent_texts(answer)).replace("\\", "")
        if not shown:
            return  # the channel sends nothing
        texts = ("Here you are", "Pump P7", "A quiet one", "p7.png", "20 EUR", "Our shop", "48.2", "+4312345")
        addresses = [button.url for button in (*CONTENT.buttons, *CONTENT.cards[0].buttons)]
        words = [*texts, "Eve Smith", "eve@", *(address.removeprefix("tel:") for address in addresses)]
        assert [word for word in words if word not in shown] == []

    @requires("sender")
    def test_who_sends_names_the_account_that_limits_bind(self) -> None:
        channel = self.built()
        limits = channel.limits(self.sample.config, self.sample.target)
        assert limits.account.strip()
        assert limits == channel.limits(self.sample.config, self.sample.target)
        without_target = channel.limits(self.sample.config, {}).account
        assert without_target == limits.account or self.sample.account_by_target

    @requires("sender", "shown", "over_http")
    @pytest.mark.parametrize(("then", "outcomes"), ANSWERS, ids=str)
    async def test_failures_of_sending_are_classified(self, then: Any, outcomes: set[Outcome]) -> None:
        channel = self.built(then)
        message = self.rendered(channel, Answer("Hello"))[0]
        sent: Sent = await channel.send(self.sample.config, self.sample.target, message, "key-1")
        assert sent.outcome in outcomes
        assert sent.outcome is not Outcome.RETRY_AFTER or sent.retry_after == 7
        assert sent.detail
        assert not any(secret in sent.detail for secret in self.secrets(channel))

    @requires("sender", "of_recipient")
    async def test_what_concerns_one_person_is_told_from_what_concerns_the_instance(self) -> None:
        for refusal in self.sample.of_recipient:
            assert (await self.refused(refusal)).of_recipient, refusal.body
        assert not (await self.refused(HttpAnswer(401, {}, b"{}"))).of_recipient
        assert not (await self.refused(HttpAnswer(500, {}, b"{}"))).of_recipient

    async def refused(self, refusal: HttpAnswer) -> Sent:
        channel = self.built(refusal)
        message = self.rendered(channel, Answer("Hello"))[0]
        sent: Sent = await channel.send(self.sample.config, self.sample.target, message, "key-1")
        assert sent.outcome is not Outcome.SENT
        return sent

    def secrets(self, channel: ChannelCalls) -> list[str]:
        config = self.sample.config
        return [
            str(config[field.name])
            for field in channel.definition.fields
            if field.secret and field.name in config
        ]

    @requires("streaming")
    @pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
    def test_a_draft_is_the_beginning_within_the_limit(self, text: str) -> None:
        channel = self.built()
        preview = channel.preview(self.sample.config, self.sample.target)
        limit = channel.definition.text_limit or TextLimit(10**9)
        assert preview.seconds >= 1 or not self.sample.over_http
        sizes = [0]
        for end in (100, 1000, len(text)):
            draft = preview.render(text[:end][: preview.size])
            shown = str(draft.payload["text"])
            assert json.loads(json.dumps(dict(draft.payload))) == draft.payload
            assert measured(shown, limit.unit) <= limit.size
            sizes.append(len(shown))
        assert sizes == sorted(sizes)
        assert preview.render("\0 ") is None

    @requires("streaming")
    def test_the_first_message_takes_the_place_of_the_draft(self) -> None:
        channel = self.built()
        payloads = [dict(each.payload) for each in self.rendered(channel, Answer("Hello", draft="17"))]
        anew = [dict(each.payload) for each in self.rendered(channel, Answer("Hello"))]
        assert payloads == [{**anew[0], "draft": "17"}]
        (deletion,) = self.rendered(channel, Answer("", draft="17"))
        assert deletion.payload["draft"] == "17"

    @requires("streaming", "over_http")
    @pytest.mark.parametrize("draft", ["", "17"])
    @pytest.mark.parametrize(("then", "outcomes"), ANSWERS, ids=str)
    async def test_failures_of_drafts_are_classified(
        self, then: Any, outcomes: set[Outcome], draft: str
    ) -> None:
        """An edit may be made twice, so that it is tried again where its outcome is unknown."""
        channel = self.built(then)
        config, target = self.sample.config, self.sample.target
        message = channel.preview(config, target).render("Hello")
        sent: Sent = await channel.draft(config, target, message, draft, "draft:1")
        repeated = {Outcome.TRANSIENT if outcome is Outcome.UNKNOWN else outcome for outcome in outcomes}
        assert sent.outcome in (repeated if draft else outcomes)
        assert sent.outcome is not Outcome.RETRY_AFTER or sent.retry_after == 7
        assert not any(secret in sent.detail for secret in self.secrets(channel))

    @requires("typing")
    def test_typing_is_repeated_before_it_ends(self) -> None:
        channel = self.built()
        shown = self.sample.typing_shown_seconds
        assert shown * 0.7 <= channel.typing_seconds <= shown

    @requires("typing", "over_http")
    @pytest.mark.parametrize(("then", "outcome"), TYPING_ANSWERS, ids=str)
    async def test_failures_of_typing_are_classified(self, then: Any, outcome: Outcome) -> None:
        sent = await self.built(then).typing(self.sample.config, self.sample.target)
        assert sent is not None
        assert sent.outcome is outcome
        assert sent.retry_after == (7 if outcome is Outcome.RETRY_AFTER else None)

    @requires("reactions", "reacted_to")
    @pytest.mark.parametrize(("then", "outcome"), TYPING_ANSWERS, ids=str)
    @pytest.mark.parametrize("present", [True, False])
    async def test_failures_of_reactions_are_classified(
        self, then: Any, outcome: Outcome, present: bool
    ) -> None:
        react = self.built(then).react
        message_id = self.sample.reacted_to
        sent = await react(self.sample.config, self.sample.target, message_id, "eyes", present=present)
        assert sent.outcome is not Outcome.SENT

    @requires("reactions", "reacted_to")
    async def test_a_reaction_is_added_and_taken_away_by_one_call_each(self) -> None:
        http = Scripted((), OK)
        channel = ChannelCalls(type(self).build(dependencies(http, self.sample.addresses)))
        react, bodies = channel.react, []
        for present in (True, False):
            before = len(http.requests)
            await react(
                self.sample.config, self.sample.target, self.sample.reacted_to, "eyes", present=present
            )
            assert len(http.requests) > before
            last = http.requests[-1]
            bodies.append((last.method, last.url, str(last.json)))
        assert bodies[0] != bodies[1]


def measured(text: str, unit: Unit) -> int:
    if unit is Unit.BYTES:
        return len(text.encode())
    return len(text.encode("utf-16-le")) // 2 if unit is Unit.UTF16 else len(text)
