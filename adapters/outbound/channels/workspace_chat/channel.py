"""The workspace-chat channel: Slack (https://docs.slack.dev/)."""

from adapters.outbound.channels.workspace_chat.api import BASE, DirectMessages, Downloads, Opener, Threads
from adapters.outbound.channels.workspace_chat.delivery import (
    Prompts,
    SlackReactions,
    SlackStreaming,
    ThreadStatus,
)
from domain.channels.model import Proof
from domain.channels.refused import BOT, CHANNEL
from ports.channels import Channel, ChannelDependencies

from . import delivery, webhook
from .api import WebApi
from .config import CONFIG, DEFINITION, TARGET, SlackConfig, SlackTarget
from .socket_mode import SocketMode


def build(dependencies: ChannelDependencies) -> Channel[SlackConfig, SlackTarget]:
    api = WebApi(dependencies)
    streaming = SlackStreaming(api)
    prompts = Prompts(api)
    threads = Threads(api)
    downloads = Downloads(api)
    direct_messages = DirectMessages(api)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        refusals=(CHANNEL, BOT),
        metadata=api,
        placer=direct_messages,
        sender=delivery.Delivery(dependencies, api, streaming),
        opener=Opener(api),
        limits=delivery,
        probe=api,
        fetcher=downloads,
        describer=downloads,
        quoted_reader=threads,
        thread_reader=threads,
        waiting=delivery,
        reactions=SlackReactions(api),
        typing=ThreadStatus(api),
        streaming=streaming,
        button_ack=prompts,
        prompt_closer=prompts,
        connector=SocketMode(dependencies, api, direct_messages),
        connection_proof=Proof.PLATFORM,
    )
