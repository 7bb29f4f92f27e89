"""The community-chat channel: Mattermost. Outgoing webhooks and slash commands in, posts out."""

from adapters.outbound.channels.community_chat.api import Files
from adapters.outbound.channels.community_chat.delivery import (
    MattermostReactions,
    MattermostStreaming,
    Posting,
    Prompts,
)
from adapters.outbound.channels.community_chat.lookups import Bots, Opener, Threads
from domain.channels.refused import BOT, CHANNEL
from ports.channels import Channel, ChannelDependencies

from . import delivery, webhook
from .api import MattermostApi
from .config import CONFIG, DEFINITION, TARGET, MattermostConfig, MattermostTarget
from .socket import Socket


def build(dependencies: ChannelDependencies) -> Channel[MattermostConfig, MattermostTarget]:
    api = MattermostApi(dependencies)
    files = Files(dependencies, api)
    posting = Posting(api)
    prompts = Prompts(api, posting)
    sender = delivery.Delivery(dependencies, api, posting)
    threads, bots = Threads(api), Bots(dependencies.clock, api)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        refusals=(CHANNEL, BOT),
        metadata=api,
        sender=sender,
        opener=Opener(api),
        limits=delivery,
        probe=api,
        fetcher=files,
        describer=files,
        quoted_reader=threads,
        thread_reader=threads,
        sender_filter=bots,
        typing=sender,
        reactions=MattermostReactions(api, bots),
        connector=Socket(dependencies, api),
        streaming=MattermostStreaming(posting),
        button_ack=prompts,
        prompt_closer=prompts,
        button_limit=delivery,
    )
