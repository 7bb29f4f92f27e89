"""The http-webhook channel: takes any JSON POST; answers in the call, or at a response address."""

from ports.channels import Channel, ChannelDependencies

from . import webhook
from .config import CONFIG, DEFINITION, TARGET, WebhookConfig, WebhookTarget
from .delivery import Delivery
from .opening import Opener


def build(dependencies: ChannelDependencies) -> Channel[WebhookConfig, WebhookTarget]:
    delivery = Delivery(dependencies)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        call_responder=webhook,
        sender=delivery,
        opener=Opener(dependencies.hosts),
        limits=delivery,
    )
