"""The business-messaging channel: the WhatsApp Cloud API. Sent messages cannot be changed: no `PromptCloser`."""

from adapters.outbound.channels.business_messaging.api import BASE
from ports.channels import Channel, ChannelDependencies
from ports.reply_capabilities import TemplateRules

from . import webhook
from .api import GraphApi
from .config import CONFIG, DEFINITION, TARGET, WINDOW, WhatsAppConfig, WhatsAppTarget
from .delivery import Delivery
from .opening import Opener


def build(dependencies: ChannelDependencies) -> Channel[WhatsAppConfig, WhatsAppTarget]:
    delivery = Delivery(GraphApi(dependencies), dependencies.artifacts)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        sender=delivery,
        opener=Opener(),
        template_rules=TemplateRules(WINDOW),
        limits=delivery,
        button_limit=delivery,
        typing=delivery,
        reactions=delivery,
        probe=delivery,
        fetcher=delivery,
    )
