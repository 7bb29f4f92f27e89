"""A Teams of our own and the channel before it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.enterprise_chat.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import SetClock, client, dependencies
from tests.support.platforms.teams import APP_ID, Teams

from .answering import CONVERSATION


@pytest.fixture
async def teams() -> AsyncIterator[ChannelCalls]:
    async with Teams.run() as platform:
        yield platform


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def channel(teams: Teams, clock: SetClock) -> AsyncIterator[ChannelCalls]:
    addresses = {"ENTERPRISE_CHAT_LOGIN_URL": teams.url, "ENTERPRISE_CHAT_OPENID_URL": teams.url}
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, addresses, clock=clock)))


@pytest.fixture
def target(teams: Teams) -> dict[str, Any]:
    return {
        "serviceUrl": f"{teams.url}/",
        "conversation": CONVERSATION,
        "bot": {"id": f"28:{APP_ID}", "name": "Workshop Bot"},
        "user": {"id": "29:1", "name": "Maria"},
        "replyTo": "1795176001234",
        "prompt": "",
    }
