"""The community-chat channel: Mattermost. Outgoing webhooks and slash commands in, posts out."""

from domain.channels.refused import BOT, CHANNEL
from ports.channels import Channel, ChannelDependencies

from . import delivery, webhook
from .api import MattermostApi
from .config import CONFIG, DEFINITION, TARGET, MattermostConfig, MattermostTarget
from .lookups import Bots, Conversations
from .socket import Socket


def build(dependencies: ChannelDependencies) -> Channel[MattermostConfig, MattermostTarget]:
    api = MattermostApi(dependencies)
    bots, conversations = Bots(dependencies.clock, api), Conversations(api)
    sender = delivery.Delivery(dependencies, api, bots)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        refusals=(CHANNEL, BOT),
        metadata=api,
        sender=sender,
        opener=conversations,
        limits=delivery,
        probe=api,
        fetcher=api,
        describer=api,
        quoted_reader=conversations,
        thread_reader=conversations,
        sender_filter=bots,
        typing=sender,
        reactions=sender,
        connector=Socket(dependencies, api),
        streaming=sender,
        button_ack=sender,
        prompt_closer=sender,
        button_limit=delivery,
    )
