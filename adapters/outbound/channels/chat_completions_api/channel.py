"""The chat-completions-api channel: an OpenAI-compatible endpoint in front of a resource."""

from collections.abc import Sequence
from datetime import UTC, datetime

from adapters.outbound.channels.common.programs import LinkedFiles
from domain.channels.messages import ThreadMessage
from ports.channels import Channel, ChannelDependencies

from . import webhook
from .answering import Streamer
from .config import CONFIG, DEFINITION, TARGET, CompletionsConfig, CompletionsTarget


class RequestThread:
    """`ports.capabilities.ThreadReader`: the earlier messages that came with the request."""

    async def read_thread(
        self, config: CompletionsConfig, target: CompletionsTarget, before: str, most: int
    ) -> Sequence[ThreadMessage]:
        at = datetime.fromtimestamp(target.created, UTC)
        return [ThreadMessage(text, author, at) for author, text in target.thread[-most:]]


def build(dependencies: ChannelDependencies) -> Channel[CompletionsConfig, CompletionsTarget]:
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        call_streamer=Streamer(),
        fetcher=LinkedFiles(dependencies.http),
        thread_reader=RequestThread(),
    )
