"""The gaming-chat channel: Discord (https://docs.discord.com/developers).

Interactions arrive by webhook, messages over the gateway.
"""

from adapters.outbound.channels.gaming_chat.api import BASE
from ports.channels import Channel, ChannelDependencies

from . import delivery, webhook
from .api import DiscordApi
from .config import CONFIG, DEFINITION, TARGET, DiscordConfig, DiscordTarget
from .gateway import Gateway
from .prompts import Prompts


def build(dependencies: ChannelDependencies) -> Channel[DiscordConfig, DiscordTarget]:
    api = DiscordApi(dependencies)
    sender = delivery.Delivery(dependencies, api)
    prompts = Prompts(api)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        sender=sender,
        limits=delivery,
        probe=api,
        fetcher=api,
        typing=sender,
        waiting=delivery,
        button_ack=prompts,
        prompt_closer=prompts,
        connector=Gateway(dependencies, api),
    )
