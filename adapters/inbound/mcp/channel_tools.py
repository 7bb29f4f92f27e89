"""Tools for channel instances."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from adapters.inbound.mcp.tools import Cursor, Limit, Next, ToolCall
from adapters.inbound.rest.bodies import Answer, OptionalTimestamp, attribute
from domain.access.model import Caller
from domain.paging import DEFAULT_LIMIT
from ports.use_cases import UseCases


class ChannelState(Answer):
    instanceId: int = attribute("instance.id")
    channelId: str = attribute("instance.channel_id", description="The kind of channel.")
    channelName: str = attribute("instance.channel_name", description="The name that its owner gave it.")
    healthy: bool = attribute("health.healthy")
    warnings: list[str] = attribute("health.warnings", description="What is wrong and what to do.")
    lastSuccess: OptionalTimestamp = attribute("health.last_success")
    lastError: str | None = attribute("health.last_error")
    lastErrorAt: OptionalTimestamp = attribute("health.last_error_at")
    queue: dict[str, int] = attribute("health.queue", description="Messages by state.")
    waitingSeconds: float = attribute(
        "backlog.waiting_seconds", description="Age of the oldest message that waits to be processed."
    )
    pendingSeconds: float = attribute(
        "backlog.pending_seconds", description="Age of the oldest message that waits to be sent."
    )


class ChannelList(Answer):
    channels: list[ChannelState]
    next: Next


class ListChannels(ToolCall):
    """Lists your channel instances (bots, mailboxes, webhooks, phone numbers) and whether they work: health, the last
    error, what waits. An admin sees those of all users. Never shows configurations or credentials."""

    TITLE: ClassVar = "List channels"
    ANSWER: ClassVar = ChannelList

    failing: bool = Field(
        False,
        description="Only those that are not healthy; a page may then be short, even empty, while next leads on.",
    )
    limit: Limit = DEFAULT_LIMIT
    cursor: Cursor = None

    async def run(self, services: UseCases, caller: Caller) -> Answer:
        page = await services.monitoring.health.list(caller, self.limit, self.cursor, failing=self.failing)
        channels = [ChannelState.model_validate(state) for state in page.items]
        return ChannelList(channels=channels, next=page.next)
