"""The gaming-chat channel: Discord (https://docs.discord.com/developers).

Interactions arrive by webhook, messages over the gateway.
"""

from adapters.outbound.channels.gaming_chat.api import BASE
from domain.channels.model import Proof
from domain.channels.refused import BOT, CHANNEL
from ports.channels import Channel, ChannelDependencies

from . import delivery, webhook
from .api import DiscordApi
from .config import CONFIG, DEFINITION, TARGET, DiscordConfig, DiscordTarget
from .gateway import Gateway
from .opening import Opener
from .posting import Posting
from .prompts import Prompts
from .reactions import DiscordReactions
from .streaming import DiscordStreaming
from .threads import Threads


def build(dependencies: ChannelDependencies) -> Channel[DiscordConfig, DiscordTarget]:
    api = DiscordApi(dependencies)
    posting = Posting(dependencies.clock, api)
    sender = delivery.Delivery(dependencies, api, posting)
    prompts = Prompts(api)
    threads = Threads(api)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        refusals=(CHANNEL, BOT),
        sender=sender,
        opener=Opener(api),
        conversation_target=delivery,
        limits=delivery,
        probe=api,
        fetcher=api,
        typing=sender,
        reactions=DiscordReactions(api),
        waiting=delivery,
        streaming=DiscordStreaming(posting),
        button_ack=prompts,
        prompt_closer=prompts,
        connector=Gateway(dependencies, api, threads),
        connection_proof=Proof.PLATFORM,
        thread_reader=threads,
    )
