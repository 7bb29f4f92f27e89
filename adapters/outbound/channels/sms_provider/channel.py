"""The sms-provider channel: Twilio. It has no buttons and no typing indicator: choices are typed."""

from adapters.outbound.channels.sms_provider import webhook
from adapters.outbound.channels.sms_provider.delivery import BASE, Delivery, Opener
from ports.channels import Channel, ChannelDependencies

from .config import CONFIG, DEFINITION, TARGET, SmsConfig, SmsTarget


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
