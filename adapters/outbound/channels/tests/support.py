"""What a channel is built with in tests: a kit of its own, and calls as a platform would make them."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from adapters.outbound.net.addresses import AddressPolicy, AllowedAddresses
from adapters.outbound.net.http import AioHttp
from adapters.outbound.net.websockets import AioWebSockets
from domain.channels.answers import Artifact
from domain.channels.messages import RawCall
from domain.refusals import Unavailable
from domain.web_chat.model import ChatMessage, ChatPlace
from ports.channels import ChannelDependencies
from ports.http import Http, HttpAnswer, HttpRequest

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)
"""The moment at which tests of channels take place."""


class SetClock:
    """A clock that stands still until it is set."""

    def __init__(self, now: datetime = NOW) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


class CountingIds:
    """Ids that can be told beforehand."""

    def __init__(self) -> None:
        self._count = 0

    def request_id(self) -> str:
        self._count += 1
        return f"00000000-0000-4000-8000-{self._count:012d}"

    def token(self, nbytes: int = 32) -> str:
        self._count += 1
        return f"token{self._count}".ljust(nbytes, "x")

    def digits(self, count: int) -> str:
        self._count += 1
        return str(self._count).zfill(count)

    def chance(self) -> float:
        return 0.5


class Files:
    """The bytes of an answer's files, by name."""

    def __init__(self, **contents: bytes) -> None:
        self.contents = dict(contents)

    async def read(self, artifact: Artifact) -> AsyncIterator[bytes]:
        content = self.contents[artifact.name]
        for start in range(0, len(content), 4096):
            yield content[start : start + 4096]


class Chats:
    """What visitors of web pages see, by id."""

    def __init__(self) -> None:
        self.messages: dict[str, ChatMessage] = {}
        self.removed: list[str] = []
        self.typed = 0.0
        self.away = False
        self.exists = True

    async def write(self, place: ChatPlace, message: ChatMessage) -> None:
        if self.away:
            raise Unavailable("the database is away")
        self.messages[message.id] = message

    async def change(self, place: ChatPlace, message: ChatMessage) -> bool:
        if self.exists:
            await self.write(place, message)
        return self.exists

    async def remove(self, place: ChatPlace, message_id: str) -> None:
        self.messages.pop(message_id, None)
        self.removed.append(message_id)

    async def typing(self, place: ChatPlace, seconds: float) -> None:
        if self.away:
            raise Unavailable("the database is away")
        self.typed = seconds


def dependencies(
    http: Http,
    addresses: Mapping[str, str] | None = None,
    files: Files | None = None,
    clock: SetClock | None = None,
    policy: str = "open",
    chats: Chats | None = None,
) -> ChannelDependencies:
    """A kit whose settings are `addresses`; asking for another setting is an error of the test."""
    known = {
        "ENTERPRISE_CHAT_TRUSTED_HOSTS": "",
        "ENTERPRISE_CHAT_EMULATOR": "",
        "ENTERPRISE_CHAT_SERVICE_URL": "https://smba.trafficmanager.net/teams",
        **(addresses or {}),
    }
    return ChannelDependencies(
        http=http,
        websockets=AioWebSockets(AddressPolicy.parse(policy)),
        artifacts=files or Files(),
        clock=clock or SetClock(),
        ids=CountingIds(),
        address=lambda address: known[address.setting],
        hosts=AllowedAddresses(AddressPolicy()),
        data_folder=Path("/nonexistent"),
        web_chat=chats or Chats(),
    )


def refusal(status: int, **body: object) -> HttpAnswer:
    """A platform's refusal, with a JSON body."""
    return HttpAnswer(status, {}, json.dumps(body).encode())


def call(
    *,
    body: bytes | None = None,
    as_json: Any = None,
    form: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    method: str = "POST",
    callback: str = "webhook",
    url: str = "https://switchboard.example/api/agent/channels/any/7/webhook",
) -> RawCall:
    """A call on an instance's callback address."""
    found = {name.lower(): value for name, value in (headers or {}).items()}
    if as_json is not None:
        body = json.dumps(as_json).encode()
        found.setdefault("content-type", "application/json")
    elif form is not None:
        body = urlencode(form).encode()
        found.setdefault("content-type", "application/x-www-form-urlencoded")
    return RawCall(
        id="00000000-0000-4000-8000-000000000000",
        method=method,
        callback=callback,
        url=url,
        headers=found,
        body=body or b"",
    )


class PatientHttp(AioHttp):
    """The client that the service itself uses, with the time for each request that a busy machine may need."""

    async def send(self, request: HttpRequest) -> HttpAnswer:
        return await super().send(_patient(request))

    def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        return super().stream(_patient(request))


def _patient(request: HttpRequest) -> HttpRequest:
    return replace(request, timeout=max(request.timeout, 120.0))


@asynccontextmanager
async def client(policy: str = "open") -> AsyncIterator[AioHttp]:
    """A client under an outbound policy."""
    http = PatientHttp(AddressPolicy.parse(policy))
    try:
        yield http
    finally:
        await http.close()
