"""What every channel keeps whose people reply to messages.

class TestReplies(ReplyContract):
    build = staticmethod(build)
    sample = SAMPLE
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.sample import Sample, Scripted
from adapters.outbound.channels.tests.support import dependencies
from domain.channels.messages import Quoted
from ports.capabilities import PlatformError
from ports.channels import Channel, ChannelDependencies
from ports.http import AddressRefused, HttpAnswer, HttpFailed

FAILURES = [
    HttpAnswer(429, {"retry-after": "7"}, b"{}"),
    HttpAnswer(500, {}, b""),
    HttpAnswer(403, {}, b"{}"),
    HttpAnswer(200, {}, b"<html>Sign in</html>"),
    HttpFailed("connection reset", before_request=False),
    AddressRefused("private address"),
]


class ReplyContract:
    build: Callable[[ChannelDependencies], Channel[Any, Any]]
    sample: Sample

    def built(
        self, answers: Sequence[HttpAnswer] = (), then: HttpAnswer | HttpFailed = FAILURES[1]
    ) -> ChannelCalls:
        http = Scripted(answers, then)
        return ChannelCalls(type(self).build(dependencies(http, self.sample.addresses)))

    async def test_what_was_replied_to_is_given_or_can_be_found(self) -> None:
        assert self.sample.replies
        for reply in self.sample.replies:
            event, channel = reply.event(), self.built(reply.asked)
            quoted = event.quoted
            assert quoted is not None
            assert reply.text not in event.text
            if not quoted.is_given:
                assert quoted.ref
                if channel.channel.quoted_reader is None:  # found among the stored messages alone
                    assert quoted.key
                    continue
                quoted = await channel.read_quoted(self.sample.config, event.target, quoted)
            assert isinstance(quoted, Quoted)
            assert (quoted.text, str(quoted.author)) == (reply.text, reply.author)
            sources = [dict(file.source) for file in quoted.attachments]
            assert json.loads(json.dumps(sources)) == sources

    @pytest.mark.parametrize("failure", FAILURES, ids=str)
    async def test_what_cannot_be_read_is_an_error_of_the_platform(
        self, failure: HttpAnswer | HttpFailed
    ) -> None:
        channel = self.built((), failure)
        for reply in self.sample.replies:
            event = reply.event()
            quoted = event.quoted or Quoted()
            if not quoted.is_given and channel.channel.quoted_reader:
                with pytest.raises(PlatformError):
                    await channel.read_quoted(self.sample.config, event.target, quoted)
            if event.thread_post and channel.channel.thread_reader:
                with pytest.raises(PlatformError):
                    await channel.read_thread(self.sample.config, event.target, event.thread_post, 20)
