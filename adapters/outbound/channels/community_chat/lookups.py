"""Reads of a Mattermost server: which users are bots, the posts of threads, channels and direct messages.

Source: https://developers.mattermost.com/api-documentation/
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from adapters.outbound.channels.common.addresses import read_address
from adapters.outbound.channels.common.bodies import at, integer, text
from adapters.outbound.net.urls import segment
from domain.channels.answers import Author
from domain.channels.messages import Quoted, Sender, ThreadMessage
from ports.capabilities import Opened, OpenRequest, PlatformError
from ports.system import Clock

from .api import MattermostApi
from .config import MattermostConfig, MattermostTarget, session_of
from .webhook import files_of, shown_in

KNOWN_SECONDS = 3600.0
UNKNOWN_SECONDS = 60.0
"""After so long a server that did not answer is asked again."""
TIMEOUT = 5.0
"""Seconds that an event waits for each of two answers."""
REMEMBERED = 10_000
"""Users, and tokens, whose answers are cached."""
READ_TIMEOUT = 5.0
_ADDRESS = re.compile(r"(user:)?([a-z0-9]{26})")
_DIRECT = "D"
_BETWEEN = "__"
"""Between the ids of the two people in the name of a direct channel."""

V = TypeVar("V")
Key = tuple[str, str]


class _Cache(Generic[V]):
    """Answers of servers, None if a server did not give one."""

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
    """Asks a server once an hour for each user who writes, and for each token for its account: two bots that answer
    each other would never come to an end.

    Posts of bots set outgoing webhooks off as well, and the payload does not distinguish them from people's.
    """

    def __init__(self, clock: Clock, api: MattermostApi) -> None:
        self._api = api
        self._users: _Cache[bool] = _Cache(clock)
        self._tokens: _Cache[str] = _Cache(clock)
        self._accounts: set[Key] = set()

    async def is_bot(self, config: MattermostConfig, sender: Sender) -> bool | None:
        """Return None if the server does not answer, or if another instance may have written: its token may be of
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
        """The id of the account that the token is of, None if the server does not answer."""

        async def ask() -> str:
            return text(await self._api.read(config, "/users/me", "the token", TIMEOUT), "id")

        return await self._tokens.get((config.server_url, config.token), ask)


class Conversations:
    """Reads threads, and opens channels and direct messages for messages that answer none. People are named by their
    names, which takes one more call for all of a thread."""

    address = "the id (26 letters and digits) of a channel or a user, or user: and the id of a user"

    def __init__(self, api: MattermostApi) -> None:
        self._api = api

    def default_address(self, config: MattermostConfig) -> str:
        return config.channel_id

    async def open(self, config: MattermostConfig, request: OpenRequest) -> Opened[MattermostTarget]:
        """A bare id is that of a channel, or else of a user."""
        is_user, number = read_address(_ADDRESS, request.to, self.address).groups()
        channel = None if is_user else await self._api.find_channel(config, number)
        if channel is not None and text(channel, "type") != _DIRECT:
            return _opened(channel)
        own = text(await self._api.fetch_metadata(config), "userId")
        if channel is None:
            return _opened(await self._api.open_direct(config, own, number), number)
        people = text(channel, "name").split(_BETWEEN)
        return _opened(channel, next((person for person in people if person != own), own))

    async def read_quoted(
        self, config: MattermostConfig, target: MattermostTarget, quoted: Quoted
    ) -> Quoted | None:
        path = f"/posts/{segment(quoted.ref)}"
        post = await self._api.read(config, path, "the first post of the thread", READ_TIMEOUT)
        names = await self._names(config, [post])
        return Quoted(shown_in(post), names[text(post, "user_id")], files_of(post))

    async def read_thread(
        self, config: MattermostConfig, target: MattermostTarget, before: str, most: int
    ) -> Sequence[ThreadMessage]:
        path = f"/posts/{segment(target.root)}/thread"
        thread = await self._api.read(config, path, "the thread", READ_TIMEOUT)
        posts = [post for post in (at(thread, "posts") or {}).values() if isinstance(post, Mapping)]
        called_at = next((_time(post) for post in posts if text(post, "id") == before), 0)
        earlier = [post for post in posts if _time(post) < called_at and shown_in(post)]
        latest = sorted(earlier, key=_time)[-most:]
        names = await self._names(config, latest)
        return [
            ThreadMessage(
                shown_in(post), names[text(post, "user_id")], datetime.fromtimestamp(_time(post) / 1000, UTC)
            )
            for post in latest
        ]

    async def _names(self, config: MattermostConfig, posts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """The author of each post by the id of its user."""
        own = text(await self._api.fetch_metadata(config), "userId")
        ids = {text(post, "user_id") for post in posts}
        users = await self._api.users(config, sorted(ids - {own}))
        names = {text(user, "id"): text(user, "username") for user in users}
        return {id: Author.RESOURCE if id == own else names.get(id) or id for id in ids}


def _time(post: Mapping[str, Any]) -> int:
    """In milliseconds since 1970."""
    return integer(post, "create_at") or 0


def _opened(channel: Mapping[str, object], person: str = "") -> Opened[MattermostTarget]:
    """Nobody is known of a channel of many: a conversation begins with each person who answers there."""
    channel_id = text(channel, "id")
    if not channel_id:
        raise PlatformError("Mattermost's answer names no channel.")
    return Opened(session_of(channel_id, person), MattermostTarget(channel=channel_id))
