"""Calls one agent by the A2A library: reads its card, sends messages, asks for tasks."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from typing import cast
from urllib.parse import urlsplit

import httpx
from a2a.client.card_resolver import parse_agent_card
from a2a.client.client import Client, ClientCallContext, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    SendMessageRequest,
    StreamResponse,
    Task,
)
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH, TransportProtocol
from a2a.utils.errors import (
    A2AError,
    InvalidParamsError,
    MethodNotFoundError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.protobuf.json_format import ParseError

from adapters.outbound.net.urls import base_address
from adapters.outbound.resources.a2a.bridge import Bridge
from adapters.outbound.resources.a2a.target import A2aTarget, CardCache
from adapters.outbound.resources.answers import broken_exchange, own_words, usable
from domain.rendering import off_loop
from ports.http import Http, HttpFailed
from ports.resources import DownstreamFailed

log = logging.getLogger(__name__)

CALL_SECONDS = 30.0
"""For a call that is answered at once: reading the card, asking for a task."""
MAX_CARD = 1_000_000
"""Bytes of a card."""
_BINDINGS = [TransportProtocol.JSONRPC.value, TransportProtocol.HTTP_JSON.value]
_UNUSABLE = (ParseError, ValueError, TypeError, AttributeError, KeyError, httpx.InvalidURL)
"""What the library raises for an answer that is JSON, and not what the protocol says."""


class TaskRefused(DownstreamFailed):
    """The agent does not know the task or context, or takes nothing for it any more."""


class Agent:
    """One agent. Each method raises `DownstreamFailed`."""

    def __init__(self, http: Http, target: A2aTarget, cards: CardCache) -> None:
        self._target = target
        self._cards = cards
        self._key = (target.url, target.token)
        self._bridge = Bridge(http, target.url, target.token)
        self._http = httpx.AsyncClient(transport=self._bridge, trust_env=False, timeout=CALL_SECONDS)

    async def send(self, message: Message, seconds: float) -> AsyncIterator[StreamResponse]:
        """What comes of a message: a reply, or the events of a task. Raises `TaskRefused` where the message names a
        task or context that the agent does not take it for."""
        with self._failures(continues=bool(message.task_id or message.context_id)):
            client = await self._client()
            events = client.send_message(
                SendMessageRequest(message=message), context=ClientCallContext(timeout=seconds)
            )
            async with aclosing(cast(AsyncGenerator[StreamResponse, None], events)) as closing:
                async for event in closing:
                    self._bridge.contents.put_back(event)
                    yield event

    async def task(self, task_id: str) -> Task:
        """Raises `TaskRefused` if the agent does not know the task."""
        with self._failures():
            client = await self._client()
            task = await client.get_task(
                GetTaskRequest(id=task_id), context=ClientCallContext(timeout=CALL_SECONDS)
            )
            self._bridge.contents.put_back(task)
            return task

    async def cancel(self, task_id: str) -> None:
        with self._failures():
            client = await self._client()
            await client.cancel_task(
                CancelTaskRequest(id=task_id), context=ClientCallContext(timeout=CALL_SECONDS)
            )

    async def _client(self) -> Client:
        now = asyncio.get_running_loop().time()
        card = self._cards.find(self._key, now)
        if card is None:
            card = await self._read_card()
            self._cards.keep(self._key, card, now)
        streams = card.capabilities.streaming if self._target.stream is None else self._target.stream
        used = AgentCard()
        used.CopyFrom(card)
        used.capabilities.streaming = streams
        config = ClientConfig(
            # Without a stream the answer comes at once with the id of the task, which is asked for again.
            streaming=streams,
            polling=not streams,
            httpx_client=self._http,
            supported_protocol_bindings=_BINDINGS,
        )
        try:
            return ClientFactory(config).create(used)
        except ValueError:
            raise DownstreamFailed(
                "the agent card names no address for JSONRPC or HTTP+JSON of A2A 1.x or 0.3",
                retryable=False,
                begun=False,
            ) from None

    async def _read_card(self) -> AgentCard:
        url = self._target.url
        if not urlsplit(url).path.endswith(".json"):
            url = base_address(url) + AGENT_CARD_WELL_KNOWN_PATH
        limit = {"max_bytes": MAX_CARD}
        try:
            answer = await self._http.get(url, headers={"accept": "application/json"}, extensions=limit)
            answer.raise_for_status()  # of an answer with words in the protocol's form
        except HttpFailed as error:
            failed = broken_exchange(error)
            raise DownstreamFailed(
                f"the agent card cannot be read: {failed}",
                retryable=failed.retryable,
                retry_after=failed.retry_after,
                begun=False,
            ) from error
        except httpx.HTTPStatusError as error:
            reason = f"the agent card cannot be read: status {error.response.status_code}"
            raise DownstreamFailed(reason, retryable=False, begun=False) from None
        return await off_loop(len(answer.content), lambda: parse_agent_card(answer.json()))

    @contextmanager
    def _failures(self, *, continues: bool = False) -> Iterator[None]:
        """Tells failures in the protocol's words. `continues`: the call names a task or context."""
        try:
            with usable():
                yield
            return
        except DownstreamFailed:
            self._cards.forget(self._key)
            raise
        except HttpFailed as error:
            failure = broken_exchange(error)
        except TaskNotFoundError as error:
            failure = TaskRefused(
                f"the agent does not know the task: {_told(error, self._target.token)}", retryable=False
            )
        except (UnsupportedOperationError, InvalidParamsError) as error:
            kind = TaskRefused if continues else DownstreamFailed
            failure = kind(
                f"the agent refuses the message: {_told(error, self._target.token)}",
                retryable=False,
                begun=False,
            )
        except A2AError as error:
            failure = DownstreamFailed(
                f"the agent answers with an error: {_told(error, self._target.token)}", retryable=False
            )
        except _UNUSABLE as error:
            log.info("an answer of an agent cannot be read: %r", error)
            failure = DownstreamFailed("the agent's answer is unusable: it is not A2A", retryable=False)
        self._cards.forget(self._key)
        raise failure


def _told(error: A2AError, secret: str | None) -> str:
    """The error without an address, which may hold a secret."""
    if isinstance(error.__cause__, httpx.HTTPStatusError) and isinstance(
        error, A2AClientError | MethodNotFoundError
    ):
        return f"status {error.__cause__.response.status_code}"
    return own_words([error.message], secret)
