"""Which users of a server are bots: two bots that answer each other would never come to an end.

Source: https://developers.mattermost.com/api-documentation/ (users, `is_bot`)
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.community_chat.api import Server
from ports.channels import PlatformError
from ports.clock import Clock

KNOWN_SECONDS = 3600.0
UNKNOWN_SECONDS = 60.0
"""After so long a server that did not tell is asked again."""
ACCOUNT_SECONDS = 5.0
"""How long an event waits for the account of its instance's token."""
REMEMBERED = 10_000
"""Users of whom it is remembered, and tokens."""


class Bots:
    """Asks a server once an hour for each user who writes, and for each token for its account."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._found: dict[tuple[str, str], tuple[float, bool | None]] = {}
        self._asked_again: dict[tuple[str, str], float] = {}
        self._accounts: set[tuple[str, str]] = set()

    async def has(self, server: Server, user: str) -> bool | None:
        """Whether the user is a bot; None where the server does not tell, and where another instance may have
        written: its token may be that of an ordinary user."""
        is_bot = await self._known(server, user)
        if is_bot is False:
            await self._learn_account(server)
            if (str(server.config["SERVER_URL"]), user) in self._accounts:
                return None
        return is_bot

    async def _learn_account(self, server: Server) -> None:
        place = (str(server.config["SERVER_URL"]), str(server.config["token"]))
        now = self._clock.now().timestamp()
        if now < self._asked_again.get(place, 0.0):
            return
        if len(self._asked_again) >= REMEMBERED:
            self._asked_again.clear()
            self._accounts.clear()
        try:
            account = text(await server.me(ACCOUNT_SECONDS), "id")
            self._accounts.add((place[0], account))
            self._asked_again[place] = now + KNOWN_SECONDS
        except PlatformError:
            self._asked_again[place] = now + UNKNOWN_SECONDS

    async def _known(self, server: Server, user: str) -> bool | None:
        place = (str(server.config["SERVER_URL"]), user)
        now = self._clock.now().timestamp()
        until, is_bot = self._found.get(place, (0.0, None))
        if now >= until:
            seconds, is_bot = await self._asked(server, user)
            if len(self._found) >= REMEMBERED:
                self._found.clear()
            self._found[place] = (now + seconds, is_bot)
        return is_bot

    @staticmethod
    async def _asked(server: Server, user: str) -> tuple[float, bool | None]:
        try:
            found = await server.user(user)
        except PlatformError:
            return UNKNOWN_SECONDS, None
        return KNOWN_SECONDS, at(found, "is_bot") is True
