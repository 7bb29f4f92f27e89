"""What every channel keeps that can send a message first.

class TestOpenings(OpeningContract):
    build = staticmethod(build)
    sample = SAMPLE
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.sample import Opening, Sample, Scripted
from adapters.outbound.channels.tests.support import dependencies
from domain.channels.answers import Answer
from domain.refusals import Invalid
from ports.capabilities import PlatformError
from ports.channels import Channel, ChannelDependencies
from ports.http import AddressRefused, HttpAnswer, HttpFailed

OK = HttpAnswer(200, {}, b"{}")
TRANSIENT = [
    HttpAnswer(429, {"retry-after": "7"}, b"{}"),
    HttpAnswer(500, {}, b""),
    HttpFailed("connection reset", before_request=False),
]
REFUSALS = [
    *TRANSIENT,
    HttpAnswer(403, {}, b"{}"),
    HttpAnswer(200, {}, b"<html>Sign in</html>"),
    AddressRefused("private address"),
]


class OpeningContract:
    build: Callable[[ChannelDependencies], Channel[Any, Any]]
    sample: Sample

    def opened(
        self, opening: Opening, answers: Sequence[HttpAnswer] = (), then: HttpAnswer | HttpFailed = OK
    ) -> tuple[ChannelCalls, Scripted, dict[str, Any]]:
        """A channel whose platform gives the answers, its platform, and the config of the opening."""
        http = Scripted(answers, then)
        channel = ChannelCalls(type(self).build(dependencies(http, self.sample.addresses)))
        return channel, http, {**self.sample.config, **opening.config}

    async def test_an_address_is_a_conversation_each_time_the_same(self) -> None:
        assert self.sample.openings
        for opening in self.sample.openings:
            channel, http, config = self.opened(opening, [*opening.asked, *opening.asked])
            session_id, target = await channel.open(config, opening.to, opening.subject)
            assert session_id == opening.session_id
            assert (session_id, target) == await channel.open(config, opening.to, opening.subject)
            stored = channel.channel.target.load(json.loads(json.dumps(target)))
            assert stored == channel.channel.target.load(target)
            assert len(http.requests) == 2 * len(opening.asked)

    async def test_the_message_goes_to_the_address(self) -> None:
        for opening in self.sample.openings:
            if opening.sent_to is None:
                continue
            channel, http, config = self.opened(opening, [*opening.asked, *self.sample.prelude])
            _, target = await channel.open(config, opening.to, opening.subject)
            (message,) = channel.render(config, target, Answer("Good morning"))
            await channel.send(config, target, message, "key-1")
            assert opening.sent_to(http.requests[-1]), http.requests[-1]

    def test_an_answer_is_of_the_same_conversation(self) -> None:
        for opening in self.sample.openings:
            if opening.answered is not None:
                assert opening.answered().session_id == opening.session_id

    async def test_what_is_no_address_is_refused_before_the_platform_is_asked(self) -> None:
        for to in self.no_addresses():
            channel, http, config = self.opened(self.sample.openings[0])
            with pytest.raises(Invalid) as refused:
                await channel.open(config, to, "Good morning")
            assert [fault.field for fault in refused.value.faults] == ["to"], to[:100]
            assert len(refused.value.message) < 1000
            assert http.requests == []

    def no_addresses(self) -> Iterator[str]:
        yield from ("", " ", "\n", "\0", "x" * 10_000, "\N{SNOWMAN}", "../../etc", *self.sample.no_addresses)
        for opening in self.sample.openings:
            for wrong in ("\n", "\r\nBcc: everybody@example.com", "\0", "\x1b", " ", "x" * 10_000):
                yield opening.to + wrong
                yield wrong + opening.to

    async def test_a_refusal_while_opening_is_told_without_secrets(self) -> None:
        for opening in self.sample.openings:
            for refusal in REFUSALS if opening.asked else ():
                channel, _, config = self.opened(opening, then=refusal)
                with pytest.raises(PlatformError) as refused:
                    await channel.open(config, opening.to, opening.subject)
                assert str(refused.value)
                assert refused.value.transient is (refusal in TRANSIENT)
                for field in channel.definition.fields:
                    assert not (field.secret and config.get(field.name, "\0") in str(refused.value))

    def test_the_default_address_is_an_address(self) -> None:
        channel, _, config = self.opened(self.sample.openings[0])
        default = channel.default_address(config)
        assert default in ("", *(opening.to for opening in self.sample.openings))
        assert channel.channel.opener is not None
        assert channel.channel.opener.address.strip()
