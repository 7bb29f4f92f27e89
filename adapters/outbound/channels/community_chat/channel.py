"""The community-chat channel: Mattermost. Outgoing webhooks and slash commands in, posts out."""

from domain.channels.refused import BOT, CHANNEL
from ports.channels import Channel, ChannelDependencies

from . import delivery, webhook
from .api import MattermostApi
from .bots import Bots
from .config import CONFIG, DEFINITION, TARGET, MattermostConfig, MattermostTarget
from .files import Files
from .opening import Opener
from .posting import Posting
from .prompts import Prompts
from .reactions import MattermostReactions
from .socket import Socket
from .streaming import MattermostStreaming
from .threads import Threads


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
