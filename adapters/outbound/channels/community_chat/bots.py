"""Which users of a server are bots: two bots that answer each other would never come to an end.

Source: https://developers.mattermost.com/api-documentation/ (users, `is_bot`)
"""

from __future__ import annotations

from adapters.outbound.channels.bodies import at
from adapters.outbound.channels.community_chat.api import Server
from ports.channels import PlatformError
from ports.clock import Clock

KNOWN_SECONDS = 3600.0
UNKNOWN_SECONDS = 60.0
"""After so long a server that did not tell is asked again."""
REMEMBERED = 10_000
"""Users of whom it is remembered."""


class Bots:
    """Asks a server once an hour for each user who writes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._found: dict[tuple[str, str], tuple[float, bool | None]] = {}

    async def has(self, server: Server, user: str) -> bool | None:
        """Whether the user is a bot; None where the server does not tell."""
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
