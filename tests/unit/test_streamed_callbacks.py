"""What a gateway makes of an answer that comes in pieces."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from adapters.inbound.rest.callbacks import CallbackApp
from adapters.inbound.rest.routing import GatewayOptions
from adapters.outbound.system.clock import RandomIds
from domain.channels.messages import RawAnswer, RawCall
from domain.refusals import TooMany

HEAD = RawAnswer(200, headers={"content-type": "text/event-stream"}, streams=True)


class Scripted:
    """Streams these pieces; an exception is raised. `closed` once the gateway asks for no more."""

    def __init__(self, *pieces: RawAnswer | bytes | Exception) -> None:
        self.pieces = pieces
        self.closed = False

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        return RawAnswer(501, streams=True)

    async def stream(
        self, channel_id: str, instance_id: int, call: RawCall
    ) -> AsyncGenerator[RawAnswer | bytes, None]:
        try:
            for piece in self.pieces:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            self.closed = True


async def answered(callbacks: Scripted, *, stays: int = 100) -> list[dict[str, Any]]:
    """The messages of ASGI; the caller leaves when this many are sent."""
    sent: list[dict[str, Any]] = []
    options = GatewayOptions(
        agent_url="https://bots.example",
        platform_url="",
        max_body=1000,
        max_upload=1000,
        bind=lambda _: None,
        checks={},
        metrics=lambda: None,  # type: ignore[arg-type,return-value]
    )
    app = CallbackApp(None, callbacks, RandomIds(), options)  # type: ignore[arg-type]
    read = False

    async def receive() -> dict[str, Any]:
        nonlocal read
        if not read:
            read = True
            return {"type": "http.request", "body": b"{}", "more_body": False}
        if len(sent) >= stays:
            return {"type": "http.disconnect"}
        await anyio.sleep_forever()
        raise AssertionError("nobody wakes it")

    async def send(message: Any) -> None:
        sent.append(message)

    path = "/api/agent/channels/any/7/v1/chat"
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": []}
    await app(scope, receive, send)
    assert callbacks.closed
    return sent


def headers_of(message: dict[str, Any]) -> dict[bytes, bytes]:
    return dict(message["headers"])


async def test_pieces_are_sent_as_they_come_and_signs_of_life_are_not() -> None:
    start, *rest = await answered(Scripted(b"", HEAD, b"a", b"", b"b"))
    headers = headers_of(start)
    assert (start["status"], headers[b"content-type"]) == (200, b"text/event-stream")
    assert b"content-length" not in headers
    assert headers[b"x-request-id"]
    assert [(message["body"], message["more_body"]) for message in rest] == [
        (b"", True),
        (b"a", True),
        (b"b", True),
        (b"", False),
    ]


async def test_a_whole_answer_tells_its_length() -> None:
    start, body = await answered(Scripted(b"", b"", RawAnswer(200, b"whole")))
    assert headers_of(start)[b"content-length"] == b"5"
    assert (body["body"], body["more_body"]) == (b"whole", False)


async def test_a_refusal_before_the_head_is_an_answer() -> None:
    start, _ = await answered(Scripted(b"", TooMany("later", 5)))
    assert (start["status"], headers_of(start)[b"retry-after"]) == (429, b"5")


@pytest.mark.parametrize("failure", [TooMany("later", 5), RuntimeError("the core is gone")])
async def test_a_failure_behind_the_head_leaves_the_answer_without_an_end(failure: Exception) -> None:
    _, *rest = await answered(Scripted(HEAD, b"a", failure))
    assert all(message["more_body"] for message in rest)


@pytest.mark.parametrize("stays", [0, 2, 3])
async def test_nothing_more_is_made_for_a_caller_that_left(stays: int) -> None:
    sent = await answered(Scripted(b"", HEAD, b"a", b"b", b"c"), stays=stays)
    assert len(sent) == stays
