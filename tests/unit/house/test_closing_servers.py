"""The servers of the tests leave no socket behind, whenever they are closed."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings

import pytest
from aiohttp import web

from tests.support.servers import close_runner


@pytest.mark.parametrize("steps", range(5))
async def test_a_connection_that_comes_as_the_server_closes_is_closed_with_it(steps: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()  # what others left behind is not told of here
    runner = web.AppRunner(web.Application(), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = runner.addresses[0]
    with warnings.catch_warnings(record=True) as caught, socket.create_connection(address):
        warnings.simplefilter("always")
        for _ in range(steps):
            await asyncio.sleep(0)
        await close_runner(runner)
        await asyncio.sleep(0)
        gc.collect()
    told = [str(each.message) for each in caught]
    assert [each for each in told if f"laddr={address}" in each] == []
