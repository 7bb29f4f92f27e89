"""The Mattermost server's REST API, version 4, as the bot calls it.

Source: https://developers.mattermost.com/api-documentation/
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from adapters.outbound.channels.common.bodies import at, size, text
from adapters.outbound.channels.common.client import PlatformClient, bearer
from adapters.outbound.channels.common.outcomes import by_status, excerpt, exchange, seconds_in, send
from adapters.outbound.net.urls import base_address, segment
from domain.channels.messages import Attachment, ChannelMetadata, Outcome, Sender, Sent
from ports.capabilities import PlatformError
from ports.channels import ChannelDependencies
from ports.http import FormFile, Http, HttpAnswer, HttpRequest
from ports.system import Clock

from .config import MattermostConfig

UPLOAD_TIMEOUT = 120.0
METADATA_TIMEOUT = 2.0
"""Seconds that a call may wait for the bot's own account: without it the call is read all the same."""
_OF_CHANNEL = frozenset({
    "api.context.permissions.app_error", "api.post.create_post.can_not_post_to_deleted.error",
    "api.post.create_post.root_id.app_error", "api.post.create_post.channel_root_id.app_error",
    "app.channel.get.existing.app_error", "app.channel.get.find.app_error",
    "store.sql_channel.get.existing.app_error",
})  # fmt: skip
"""Ids of errors that concern one channel: the bot is no member any more, the channel is archived or gone, the first
post of the thread is deleted (the server's `i18n/en.json`)."""
_LONGEST_WAIT = 99_999.0
"""Seconds until the rate limit is lifted; a larger number is a time."""
_POST_ANYWHERE = {"system_admin", "system_post_all"}
"""Roles that post in channels of which they are no members."""


class MattermostApi:
    """Calls as the bot of a config. The server's address is the user's, so the address policy applies."""

    metadata_seconds = 3600.0

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._http = dependencies.http

    async def post(
        self, config: MattermostConfig, path: str, body: Mapping[str, Any], timeout: float = 30.0
    ) -> Sent:
        return await send(self._http, api_request(config, "POST", path, json=body, timeout=timeout), outcome)

    async def change(self, config: MattermostConfig, post_id: str, body: Mapping[str, Any]) -> Sent:
        path = f"/posts/{segment(post_id)}/patch"
        return await send(self._http, api_request(config, "PUT", path, json=body), outcome)

    async def remove(self, config: MattermostConfig, path: str) -> Sent:
        return await send(self._http, api_request(config, "DELETE", path), outcome)

    async def respond(self, config: MattermostConfig, url: str, body: Mapping[str, Any]) -> Sent:
        """Posts to a response_url, which the caller has checked to be on this server."""
        return await send(self._http, replace(api_request(config, "POST", "", json=body), url=url), outcome)

    async def upload(self, config: MattermostConfig, channel: str, file: FormFile) -> HttpAnswer | Sent:
        fields = {"channel_id": channel}
        request = api_request(config, "POST", "/files", fields=fields, files=[file], timeout=UPLOAD_TIMEOUT)
        return await exchange(self._http, request)

    async def read(
        self, config: MattermostConfig, path: str, subject: str, timeout: float = 30.0
    ) -> dict[str, Any]:
        """A resource. `subject` is what an error says that the server refused. Raises `PlatformError`."""
        return await _client(self._http, subject).read(api_request(config, "GET", path, timeout=timeout))

    async def read_list(self, config: MattermostConfig, path: str, subject: str) -> list[dict[str, Any]]:
        """A list of resources. Raises as `read`."""
        return await _list(self._http, api_request(config, "GET", path), subject)

    async def users(self, config: MattermostConfig, ids: Sequence[str]) -> list[dict[str, Any]]:
        """The accounts of users. Raises `PlatformError`."""
        if not ids:
            return []
        request = api_request(config, "POST", "/users/ids", json=list(ids), timeout=5.0)
        return await _list(self._http, request, "the users")

    async def find_channel(self, config: MattermostConfig, channel: str) -> dict[str, Any] | None:
        """A channel, None if no channel has that id. Raises `PlatformError`."""
        return await _client(self._http, "the channel").find(
            api_request(config, "GET", f"/channels/{segment(channel)}")
        )

    async def open_direct(self, config: MattermostConfig, own: str, user: str) -> dict[str, Any]:
        """The direct channel with a user, the same each time. Raises `PlatformError`."""
        request = api_request(config, "POST", "/channels/direct", json=[own, user])
        return await _client(self._http, "the direct channel with the user").read(request)

    async def fetch_metadata(self, config: MattermostConfig) -> ChannelMetadata:
        """The bot's own user id and name: its own posts are no messages. Raises `PlatformError`."""
        me = await self.read(config, "/users/me", "the token", METADATA_TIMEOUT)
        return {"userId": me.get("id", ""), "username": me.get("username", "")}

    async def probe(self, config: MattermostConfig) -> None:
        """The token is good, and the bot may post in the channel. Raises `PlatformError`."""
        own = await self.read(config, "/users/me", "the token")
        path = f"/channels/{segment(config.channel_id)}"
        if at(await self.read(config, path, "channelId"), "delete_at"):
            raise PlatformError("The channel of channelId is archived, so that nothing can be posted there.")
        if _POST_ANYWHERE & set(text(own, "roles").split()):
            return
        client = PlatformClient(self._http, "Mattermost", excerpt, succeeded=lambda answer: True)
        answer = await client.answer(api_request(config, "GET", f"{path}/members/me"))
        if answer.status == 404 and "get_member.missing" in text(answer.json(), "id"):
            raise PlatformError(
                "The bot is no member of the channel of channelId, so that its posts are refused: invite it there."
            )

    async def described(self, config: MattermostConfig, attachment: Attachment) -> Attachment:
        """Name, type and size of a file, of which a webhook names the id alone."""
        path = f"/files/{segment(attachment.source['fileId'])}/info"
        try:
            info = await self.read(config, path, "the file's id", 10.0)
        except PlatformError:
            return attachment
        name, mime_type = text(info, "name"), text(info, "mime_type").partition(";")[0].strip()
        return Attachment(
            name or attachment.name, mime_type or attachment.mime_type, attachment.source, size(info, "size")
        )

    def fetch(self, config: MattermostConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        request = api_request(config, "GET", f"/files/{segment(attachment.source['fileId'])}")
        return PlatformClient(self._http, "Mattermost", excerpt).download(request)


def _client(http: Http, subject: str) -> PlatformClient:
    def reason(answer: HttpAnswer) -> str:
        message = text(answer.json(), "message") or excerpt(answer)
        return f"{subject} was refused: HTTP {answer.status} {message}".rstrip()

    return PlatformClient(http, "Mattermost", reason)


async def _list(http: Http, request: HttpRequest, subject: str) -> list[dict[str, Any]]:
    client = replace(_client(http, subject), succeeded=lambda answer: answer.ok)
    body = (await client.answer(request)).json()
    return [item for item in body if isinstance(item, dict)] if isinstance(body, list) else []


def api_request(config: MattermostConfig, method: str, path: str, **content: Any) -> HttpRequest:
    return HttpRequest(
        method,
        f"{base_address(config.server_url)}/api/v4{path}",
        headers=bearer(config.token),
        user_address=True,
        **content,
    )


def outcome(answer: HttpAnswer) -> Sent:
    """Classifies an answer of the server; `ref` is the id of what was made."""
    body = answer.json()
    sent = by_status(answer, text(body, "message"), ref=text(body, "id"))
    sent = replace(sent, of_recipient=not answer.ok and text(body, "id") in _OF_CHANNEL)
    if sent.outcome is Outcome.RETRY_AFTER and sent.retry_after is None:
        return replace(sent, retry_after=seconds_in(answer, "x-ratelimit-reset", _LONGEST_WAIT))
    return sent


KNOWN_SECONDS = 3600.0
UNKNOWN_SECONDS = 60.0
"""After so long a server that did not answer is asked again."""
TIMEOUT = 5.0
"""Seconds that an event waits for each of two answers."""
REMEMBERED = 10_000
"""Users, and tokens, whose answers are cached."""

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
