"""The web-chat channel: a panel on web pages, of which this service is the platform."""

from ports.channels import Channel, ChannelDependencies

from . import site
from .config import CONFIG, DEFINITION, TARGET, WebChatConfig, WebChatTarget
from .delivery import Delivery, Files
from .opening import Opener


def build(dependencies: ChannelDependencies) -> Channel[WebChatConfig, WebChatTarget]:
    delivery = Delivery(dependencies)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        chat_site=site,
        sender=delivery,
        opener=Opener(),
        fetcher=Files(dependencies),
        limits=delivery,
        typing=delivery,
        streaming=delivery,
        button_ack=delivery,
        prompt_closer=delivery,
    )
