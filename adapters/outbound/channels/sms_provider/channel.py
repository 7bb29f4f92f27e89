"""The sms-provider channel: Twilio. It has no buttons and no typing indicator: choices are typed."""

from adapters.outbound.channels.sms_provider.delivery import BASE
from ports.channels import Channel, ChannelDependencies

from . import webhook
from .config import CONFIG, DEFINITION, TARGET, SmsConfig, SmsTarget
from .delivery import Delivery
from .opening import Opener


def build(dependencies: ChannelDependencies) -> Channel[SmsConfig, SmsTarget]:
    delivery = Delivery(dependencies)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        sender=delivery,
        takes_opt_outs=True,
        opener=Opener(),
        limits=delivery,
        probe=delivery,
        fetcher=delivery,
    )
