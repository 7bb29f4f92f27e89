"""Agents of the SDK on real sockets."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from switchboard_sdk import Agent

from tests.support.ports import free_port
from tests.support.waiting import until


@contextmanager
def serving_agent(agent: Agent) -> Iterator[str]:
    """Serves the agent in a thread, on a free port; gives its address."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(agent, "127.0.0.1", port, log_config=None, loop="asyncio"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started, "the agent is served")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
