"""What a channel's folder gives the contract suite: `tests/samples.py` there holds one `SAMPLE`."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

from domain.channels.messages import ChannelMetadata, Config, OutboundMessage, RawCall, Target
from ports.http import HttpAnswer, HttpFailed, HttpRequest

FOLDERS = "adapters.outbound.channels"


@dataclass(frozen=True)
class Sample:
    """`genuine` calls each give one event; `forged` ones are refused.

    `shown` gives what the platform counts of a text part. `prelude` are the answers that sending needs
    before the part itself goes out, such as a token. `addresses` are the settings that the channel asks for.
    `over_http`: whether parts go out over HTTP, so that the suite can play the platform.
    """

    config: Config
    genuine: Mapping[str, RawCall] = field(default_factory=dict)
    forged: Mapping[str, RawCall] = field(default_factory=dict)
    metadata: ChannelMetadata = field(default_factory=dict)
    target: Target = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    shown: Callable[[OutboundMessage], str] | None = None
    prelude: Sequence[HttpAnswer] = ()
    over_http: bool = True


def folder_of(channel_id: str) -> str:
    return channel_id.replace("-", "_")


def sample_of(channel_id: str) -> Sample | None:
    """The sample of a channel, None when its folder has none."""
    name = f"{FOLDERS}.{folder_of(channel_id)}.tests"
    if find_spec(name) is None or find_spec(f"{name}.samples") is None:
        return None
    sample: Sample | None = getattr(importlib.import_module(f"{name}.samples"), "SAMPLE", None)
    return sample


class Scripted:
    """An HTTP client that gives the prelude, and then always the same: an answer or a failure."""

    def __init__(self, prelude: Sequence[HttpAnswer], then: HttpAnswer | HttpFailed) -> None:
        self._prelude = list(prelude)
        self._then = then
        self.requests: list[HttpRequest] = []

    async def send(self, request: HttpRequest) -> HttpAnswer:
        self.requests.append(request)
        if self._prelude:
            return self._prelude.pop(0)
        if isinstance(self._then, HttpFailed):
            raise self._then
        return self._then

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        answer = await self.send(request)
        if not answer.ok:
            raise HttpFailed(f"HTTP {answer.status}", before_request=False)
        yield answer.body
