"""An agent that speaks A2A, by the server of the protocol's own SDK, on the loopback interface."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from a2a.utils.constants import TransportProtocol
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.support.waiting import until

Script = Callable[["Turn"], Awaitable[None]]
JSONRPC, HTTP_JSON = TransportProtocol.JSONRPC.value, TransportProtocol.HTTP_JSON.value


class Turn:
    """One message at the agent, and what it makes of it."""

    def __init__(self, agent: "A2aAgent", context: RequestContext, queue: EventQueue) -> None:
        assert context.message is not None
        self.agent = agent
        self.message = context.message
        self.text = context.get_user_input()
        self.is_new = context.current_task is None
        self.task_id, self.context_id = context.task_id or "", context.context_id or ""
        self.queue = queue
        self.task = TaskUpdater(queue, self.task_id, self.context_id)

    def says(self, text: str) -> Message:
        return self.task.new_agent_message([Part(text=text)])

    async def begin(self) -> None:
        """Makes a task of the message."""
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        await self.queue.enqueue_event(
            Task(id=self.task_id, context_id=self.context_id, status=status, history=[self.message])
        )

    async def reply(self, text: str) -> None:
        """Answers without a task."""
        message = Message(
            role=Role.ROLE_AGENT, message_id="r", context_id=self.context_id, parts=[Part(text=text)]
        )
        await self.queue.enqueue_event(message)

    async def wait(self, name: str = "go") -> None:
        """Waits until the test calls `A2aAgent.let` with the name."""
        await self.agent.event(name).wait()


class A2aAgent(AgentExecutor):
    """`script` is what it does with each message; `turns` are the messages that it got. `tokens` are the Bearer
    tokens of its calls, `cards` how often its card was read. It answers its next calls with `refuse`."""

    def __init__(
        self,
        script: Script,
        *,
        streams: bool = True,
        binding: str = JSONRPC,
        version: str = "1.0",
        port: int = 0,
    ) -> None:
        self.script = script
        self.turns: list[Turn] = []
        self.cancelled: list[str] = []
        self.tokens: list[str] = []
        self.methods: list[str] = []
        self.cards = 0
        self.refuse: Sequence[Response] = ()
        self._events: dict[str, asyncio.Event] = {}
        self._socket = socket.create_server(("127.0.0.1", port))
        self.base = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        address = self.base + ("/rpc" if binding == JSONRPC else "/rest")
        self.card = AgentCard(
            name="Helper",
            skills=[AgentSkill(id="clock", name="Clock", description="Tells the time.", tags=["time"])],
            description="Helps.",
            version="1",
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            capabilities=AgentCapabilities(streaming=streams),
            supported_interfaces=[
                AgentInterface(url=address, protocol_binding=binding, protocol_version=version)
            ],
        )
        self._handler = DefaultRequestHandler(self, InMemoryTaskStore(), self.card)
        self._loop = asyncio.new_event_loop()

    def event(self, name: str) -> asyncio.Event:
        return self._events.setdefault(name, asyncio.Event())

    def let(self, name: str = "go") -> None:
        """Lets go on what waits for the name."""
        self._loop.call_soon_threadsafe(lambda: self.event(name).set())

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        turn = Turn(self, context, event_queue)
        self.turns.append(turn)
        await self.script(turn)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.cancelled.append(context.task_id or "")
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()

    def _app(self) -> Starlette:
        routes = [
            *create_agent_card_routes(self.card),
            *create_jsonrpc_routes(self._handler, "/rpc", enable_v0_3_compat=True),
            *create_rest_routes(self._handler, path_prefix="/rest", enable_v0_3_compat=True),
        ]
        return Starlette(routes=routes, middleware=[Middleware(BaseHTTPMiddleware, dispatch=self._look)])

    async def _look(self, request: Request, go_on: RequestResponseEndpoint) -> Response:
        self.tokens.append(request.headers.get("authorization", ""))
        if request.url.path.endswith(".json"):
            self.cards += 1
            return await go_on(request)
        if request.url.path == "/rpc":
            self.methods.append((await request.json())["method"])
        if self.refuse:
            first, *self.refuse = self.refuse
            return first
        return await go_on(request)

    @contextmanager
    def serving(self) -> Iterator["A2aAgent"]:
        """Serves on a loop in a thread of its own."""
        config = uvicorn.Config(
            self._app(), log_level="critical", lifespan="off", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)

        def run() -> None:
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(server.serve([self._socket]))
            self._loop.run_until_complete(self._end())
            self._loop.close()

        thread = threading.Thread(target=run)
        thread.start()
        until(lambda: server.started, "the agent listens")
        try:
            yield self
        finally:
            server.should_exit = True
            thread.join()
            self._socket.close()

    async def _end(self) -> None:
        async with asyncio.timeout(5):
            await self._handler.aclose()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2)


def refused(status: int, **headers: str) -> Response:
    return JSONResponse({}, status, {name.replace("_", "-"): value for name, value in headers.items()})


def answering(text: str) -> Script:
    """A task that ends at once with an answer."""

    async def script(turn: Turn) -> None:
        await turn.begin()
        await turn.task.complete(turn.says(text))

    return script
