"""Which users of a server are bots: two bots that answer each other would never come to an end.

Source: https://developers.mattermost.com/api-documentation/ (users, `is_bot`)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.community_chat.api import MattermostApi
from adapters.outbound.channels.community_chat.config import MattermostConfig
from adapters.outbound.http.paths import segment
from domain.channels.messages import Sender
from ports.capabilities import PlatformError
from ports.system import Clock

KNOWN_SECONDS = 3600.0
UNKNOWN_SECONDS = 60.0
"""After so long a server that did not tell is asked again."""
TIMEOUT = 5.0
"""Seconds that an event waits for each of two answers."""
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
    """Asks a server once an hour for each user who writes, and for each token for its account.

    Posts of bots set outgoing webhooks off as well, and the payload does not tell them from people's.
    """

    def __init__(self, clock: Clock, api: MattermostApi) -> None:
        self._api = api
        self._users: _Cache[bool] = _Cache(clock)
        self._tokens: _Cache[str] = _Cache(clock)
        self._accounts: set[Key] = set()

    async def is_bot(self, config: MattermostConfig, sender: Sender) -> bool | None:
        """None where the server does not tell, and where another instance may have written: its token may be that of
        an ordinary user."""
        url, user = config.server_url, sender.external_id

        async def ask_user() -> bool:
            path = f"/users/{segment(user)}"
            return at(await self._api.read(config, path, "the id of a user", TIMEOUT), "is_bot") is True

        is_bot = await self._users.get((url, user), ask_user)
        if is_bot is not False:
            return is_bot
        account = await self.account(config)
        if len(self._accounts) >= REMEMBERED:
            self._accounts.clear()
        if account is not None:
            self._accounts.add((url, account))
        return None if (url, user) in self._accounts else False

    async def account(self, config: MattermostConfig) -> str | None:
        """The id of the account that the token is of, None where the server does not tell."""

        async def ask() -> str:
            return text(await self._api.read(config, "/users/me", "the token", TIMEOUT), "id")

        return await self._tokens.get((config.server_url, config.token), ask)
