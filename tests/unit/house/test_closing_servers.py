"""The servers of the tests leave no socket behind, whenever they are closed."""

import asyncio
import gc
import socket
import warnings

from aiohttp import web

from tests.support.servers import close_runner


async def test_a_connection_that_comes_as_the_server_closes_is_closed_with_it() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        addresses = [await closed_after(steps) for steps in range(5)]
        gc.collect()
    told = [str(each.message) for each in caught]
    assert [each for each in told for address in addresses if f"laddr={address}" in each] == []


async def closed_after(steps: int) -> object:
    """The address of a server that is closed so many turns of the event loop after somebody has come."""
    runner = web.AppRunner(web.Application(), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address = runner.addresses[0]
    with socket.create_connection(address):
        for _ in range(steps):
            await asyncio.sleep(0)
        await close_runner(runner)
        await asyncio.sleep(0)
    return address
