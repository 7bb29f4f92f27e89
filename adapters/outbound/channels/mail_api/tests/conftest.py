"""The channel over a stand-in for Gmail."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.mail_api.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import SetClock, dependencies
from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from tests.support.platforms.gmail import Gmail


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def gmail(anyio_backend: Any) -> AsyncIterator[Gmail]:
    async with Gmail.run() as platform:
        yield platform


@pytest.fixture
async def channel(anyio_backend: Any, gmail: Gmail, clock: SetClock) -> AsyncIterator[ChannelCalls]:
    http = AioHttp(AddressPolicy())
    settings = {"MAIL_API_URL": gmail.url, "GOOGLE_TOKEN_URL": f"{gmail.url}/token"}
    yield ChannelCalls(build(dependencies(http, settings, clock=clock)))
    await http.close()
