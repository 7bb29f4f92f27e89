"""An agent behind Switchboard: a handler of messages, served as an ASGI application."""

import asyncio
import hmac
import logging
from typing import Any, TypeVar

from switchboard_sdk import _asgi
from switchboard_sdk._asgi import Receive, Scope, Send
from switchboard_sdk._runs import Handler, Run, Runs
from switchboard_sdk.answers import Answer
from switchboard_sdk.messages import BadMessage, Message, message_of

log = logging.getLogger("switchboard_sdk")

KEEP_ALIVE_SECONDS = 15.0
SMALL_BODY = 64_000
"""Bytes of a body that is read at once; larger ones are read in a thread."""
REMEMBERED = 500
REMEMBERED_SIZE = 64_000_000
"""Bytes of the answers that are remembered, and how many they are at most."""
EMPTY = _asgi.dumps(Answer().as_json())

H = TypeVar("H", bound=Handler)


class TryLater(Exception):
    """Raised by a handler that cannot answer now: Switchboard asks again, not before so many seconds."""

    def __init__(self, seconds: int = 1) -> None:
        super().__init__(f"asked to try again in {seconds} seconds")
        self.seconds = seconds


class Agent:
    """Answers the messages that Switchboard sends to a resource of kind `http`.

    `token`: the Bearer token that Switchboard calls with; None lets everybody in who reaches the agent. `timeout`:
    seconds for a run of the handler. `max_bytes` of a request, `max_runs` at once: what is over them is refused.

    The object is an ASGI application. POST to any path is a message, GET `/healthz` tells that it is up.
    """

    def __init__(
        self, *, token: str | None, timeout: float = 600, max_bytes: int = 8_000_000, max_runs: int = 200
    ) -> None:
        if token == "":
            raise ValueError("token is empty; give the token of the rule, or None to let everybody in")
        self._token = token
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._handler: Handler | None = None
        self._runs = Runs(max_runs, REMEMBERED, REMEMBERED_SIZE)

    def message(self, handler: H) -> H:
        """Decorator: the function that answers messages.

        It takes a `Message`, and yields or returns text, an `Answer` or parts of one. Text that is yielded is shown
        while the answer is being made. Coroutines run in the event loop, other functions in threads.
        """
        if self._handler is not None:
            raise ValueError("this agent has a handler of messages already")
        self._handler = handler
        return handler

    @property
    def authorization(self) -> dict[str, str]:
        """The headers that a caller needs."""
        return {} if self._token is None else {"Authorization": f"Bearer {self._token}"}

    def run(self, host: str = "127.0.0.1", port: int = 8000, **options: Any) -> None:
        """Serve until interrupted; answers under way then have 30 seconds. `options` are those of `uvicorn.run`."""
        try:
            import uvicorn
        except ImportError:
            raise RuntimeError("run() needs uvicorn: pip install uvicorn") from None
        uvicorn.run(self, host=host, port=port, **{"timeout_graceful_shutdown": 30, **options})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)
        else:
            raise RuntimeError(f"an agent serves HTTP, not {scope['type']}")

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            event = await receive()
            if event["type"] == "lifespan.shutdown":
                await self._runs.cancel()
            await send({"type": f"{event['type']}.complete"})
            if event["type"] == "lifespan.shutdown":
                return

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if scope["method"] in ("GET", "HEAD") and path == "/healthz":
            await _asgi.send_json(send, 200, b'{"status":"ok"}')
        elif scope["method"] != "POST":
            await _refuse(send, 405, "send messages with POST", (b"allow", b"POST"))
        elif not self._is_allowed(scope):
            refusal = "the token is wrong; the header must be Authorization: Bearer <token>"
            await _refuse(send, 401, refusal, (b"www-authenticate", b"Bearer"))
        else:
            await self._take(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        if self._token is None:
            return True
        kind, _, token = _asgi.header(scope, "authorization").partition(" ")
        expected = self._token.encode()
        return kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode("latin-1"), expected)

    async def _take(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await _asgi.read_body(scope, receive, self._max_bytes)
            message = (
                await asyncio.to_thread(message_of, body) if len(body) > SMALL_BODY else message_of(body)
            )
        except _asgi.Disconnected:
            return
        except _asgi.TooLarge:
            refusal = f"the request has over {self._max_bytes} bytes"
            await _refuse(send, 413, refusal, (b"connection", b"close"))
        except BadMessage as error:
            await _refuse(send, 400, str(error))
        else:
            streamed = "text/event-stream" in _asgi.header(scope, "accept").lower()
            run = self._run_of(message)
            if run is None:
                await _refuse(
                    send, 503, "too many messages are being answered at once", (b"retry-after", b"1")
                )
            else:
                await _answer(run, send, streamed)

    def _run_of(self, message: Message) -> Run | None:
        """The run of this request, which may have begun before; None where there are too many."""
        if self._handler is None:
            raise RuntimeError("the agent has no handler; mark a function with @agent.message")
        if run := self._runs.find(message.request_id):
            return run
        return None if self._runs.is_full else self._runs.start(self._handler, message, self._timeout)


async def _answer(run: Run, send: Send, streamed: bool) -> None:
    """Follows the run and sends its answer; piece by piece if there is text before its end."""
    await run.wait(0, KEEP_ALIVE_SECONDS)
    while not streamed and not run.is_done:
        await run.wait(len(run.deltas), KEEP_ALIVE_SECONDS)
    if not run.is_done:
        await _stream(run, send)
    elif run.body is None:
        if isinstance(run.error, TryLater):
            await _refuse(send, 503, str(run.error), (b"retry-after", str(run.error.seconds).encode()))
        else:
            log.error("the handler failed", exc_info=run.error)
            await _refuse(send, 500, "the agent failed")
    elif run.body == EMPTY:
        await _asgi.send_json(send, 204)
    else:
        await _asgi.send_json(send, 200, run.body)


async def _stream(run: Run, send: Send) -> None:
    """Pieces, and the whole answer at the end; without it Switchboard knows that the run failed."""
    await _asgi.begin_events(send)
    sent = 0
    while not run.is_done:
        await run.wait(sent, KEEP_ALIVE_SECONDS)
        pieces = run.deltas[sent:]
        sent += len(pieces)
        if not run.is_done:
            delta = _asgi.dumps({"textDelta": "".join(pieces)})
            await _asgi.send_piece(send, _asgi.event(delta) if pieces else b": thinking\n\n")
    if run.body is None:
        log.error("the handler failed", exc_info=run.error)
        await _asgi.send_piece(send, b": the agent failed\n\n", last=True)
    else:
        await _asgi.send_piece(send, _asgi.event(run.body), last=True)


async def _refuse(send: Send, status: int, error: str, *headers: tuple[bytes, bytes]) -> None:
    await _asgi.send_json(send, status, _asgi.dumps({"error": error}), headers)
