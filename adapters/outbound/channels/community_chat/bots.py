"""Which users of a server are bots: two bots that answer each other would never come to an end.

Source: https://developers.mattermost.com/api-documentation/ (users, `is_bot`)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.community_chat.api import Server
from ports.capabilities import PlatformError
from ports.clock import Clock

KNOWN_SECONDS = 3600.0
UNKNOWN_SECONDS = 60.0
"""After so long a server that did not tell is asked again."""
ACCOUNT_SECONDS = 5.0
"""How long an event waits for the account of its instance's token."""
REMEMBERED = 10_000
"""Users, and tokens, whose answers are cached."""

V = TypeVar("V")
Key = tuple[str, str]


class _Cache(Generic[V]):
    """Answers of servers, None where a server did not tell."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: dict[Key, tuple[float, V | None]] = {}

    async def get(self, key: Key, ask: Callable[[], Awaitable[V]]) -> V | None:
        now = self._clock.now().timestamp()
        until, value = self._answers.get(key, (0.0, None))
        if now >= until:
            try:
                value, seconds = await ask(), KNOWN_SECONDS
            except PlatformError:
                value, seconds = None, UNKNOWN_SECONDS
            if len(self._answers) >= REMEMBERED:
                self._answers.clear()
            self._answers[key] = (now + seconds, value)
        return value


class Bots:
    """Asks a server once an hour for each user who writes, and for each token for its account."""

    def __init__(self, clock: Clock) -> None:
        self._users: _Cache[bool] = _Cache(clock)
        self._tokens: _Cache[str] = _Cache(clock)
        self._accounts: set[Key] = set()

    async def has(self, server: Server, user: str) -> bool | None:
        """Whether the user is a bot; None where the server does not tell, and where another instance may have
        written: its token may be that of an ordinary user."""
        url = server.config.server_url

        async def ask_user() -> bool:
            return at(await server.user(user), "is_bot") is True

        async def ask_account() -> str:
            return text(await server.me(ACCOUNT_SECONDS), "id")

        is_bot = await self._users.get((url, user), ask_user)
        if is_bot is False:
            own = await self._tokens.get((url, server.config.token), ask_account)
            if len(self._accounts) >= REMEMBERED:
                self._accounts.clear()
            if own is not None:
                self._accounts.add((url, own))
            if (url, user) in self._accounts:
                return None
        return is_bot
