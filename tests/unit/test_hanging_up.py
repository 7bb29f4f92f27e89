"""Work for a caller that hangs up."""

import asyncio
from typing import Any

import pytest
from starlette.requests import Request

from adapters.inbound.rest.asgi import while_connected
from domain.refusals import Forbidden, Unavailable


def a_call(gone: asyncio.Event) -> Request:
    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http"}, receive)


async def test_the_work_ends_with_the_call() -> None:
    gone, begun, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    call = asyncio.create_task(while_connected(a_call(gone), work()))
    await begun.wait()
    gone.set()
    with pytest.raises(Unavailable, match="hung up"):
        await call
    assert ended.is_set()


async def test_the_outcome_is_that_of_the_work() -> None:
    async def work() -> int:
        return 7

    async def refused() -> int:
        raise Forbidden("no")

    assert await while_connected(a_call(asyncio.Event()), work()) == 7
    with pytest.raises(Forbidden):
        await while_connected(a_call(asyncio.Event()), refused())


async def test_the_work_ends_when_the_call_is_cut_off() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    call = asyncio.create_task(while_connected(a_call(asyncio.Event()), work()))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert ended.is_set()
