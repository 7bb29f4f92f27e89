"""A website with the chat of an instance, and its visitors."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from adapters.outbound.channels.web_chat import channel as delivery
from adapters.outbound.channels.web_chat.tests.samples import SECRET
from domain.channels.answers import Choice
from domain.routing.model import Confirmation, ResultArtifact, RunRequest, RunResult
from tests.drivers.resource import Resource
from tests.drivers.streaming import PieceByPiece
from tests.drivers.ways import Rest
from tests.drivers.web_chat import Page, Stream
from tests.drivers.world import World


class Scene:
    def __init__(self, world: World, rest: Rest) -> None:
        self.world, self.rest = world, rest
        self.resource = Resource(world, self.answer)
        self.instance = self.create("agent::parrot")
        self.page = self.visitor()
        self.streams: list[Stream] = []
        self.artifacts: tuple[ResultArtifact, ...] = ()
        self.pieces: PieceByPiece | None = None

    def answer(self, request: RunRequest) -> RunResult:
        if request.text == "Order it" and request.approval is None:
            return RunResult("", confirmation=Confirmation("order", {"count": 2}))
        if request.text == "Which one?":
            return RunResult("Which one?", choices=(Choice("Small", ""), Choice("Large", "")))
        return RunResult(f"You said: {request.text}", artifacts=self.artifacts)

    def create(self, resource: str, name: str = "shop", **config: Any) -> dict[str, Any]:
        """The instance as its owner sees it."""
        config = {"allowedOrigins": "https://www.example.com", "identitySecret": SECRET, **config}
        body = {"channelId": "web-chat", "channelName": name, "config": config}
        made = self.rest.create("ann", {**body, "downStreamResourceId": resource})
        assert made.outcome == "created", made
        instance: dict[str, Any] = self.rest.instance("ann", made.body["instanceId"]).body
        return instance

    def visitor(self) -> Page:
        return Page(self.rest, self.instance["publicId"])

    def look(self, page: Page | None = None, after: int = 0) -> Stream:
        stream = (page or self.page).stream(self.world, after)
        self.streams.append(stream)
        return stream

    @property
    def stream(self) -> Stream:
        return self.streams[-1]

    def ask(self, text: str, page: Page | None = None) -> None:
        answer = (page or self.page).write(text)
        assert answer.status_code == 202, answer.text

    def load_again(self) -> None:
        self.stream.leave()
        self.page.open()
        self.look()

    def identity(self, **claims: Any) -> str:
        content = {"sub": "42", "exp": datetime.now(UTC) + timedelta(days=2), **claims}
        return jwt.encode(content, SECRET, algorithm="HS256")


@pytest.fixture
def scene(world: World, rest: Rest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setattr(delivery, "DRAFT_SECONDS", 0.02)
    scene = Scene(world, rest)
    yield scene
    for stream in scene.streams:
        stream.leave()
