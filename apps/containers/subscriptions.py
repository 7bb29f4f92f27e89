"""Subscriptions to events, and what pushes events to them."""

from adapters.outbound.net.addresses import AllowedAddresses
from adapters.outbound.storage.subscriptions import PostgresPushes, PostgresSubscriptions
from adapters.outbound.system.event_pushes import ChannelsAndPushes, EventPushes, SubscriptionAddresses
from apps.containers.channels import Channels
from apps.containers.foundation import Foundation
from apps.containers.storage import Storage
from apps.settings import Settings
from domain.subscriptions.pushing import PushService
from domain.subscriptions.service import SubscriptionService


class Subscriptions:
    """`channels` are those that messages and pushes are sent by."""

    def __init__(self, foundation: Foundation, storage: Storage, channels: Channels) -> None:
        settings, bus = foundation.settings, storage.event_bus
        store = PostgresSubscriptions(storage.database, storage.config_cipher, bus.changed)
        queue = PostgresPushes(storage.database, bus.outbound_enqueued)
        pushes = EventPushes(
            foundation.traced_http,
            storage.event_log,
            foundation.clock,
            storage.instances,
            store.switch_off,
        )
        self.channels = ChannelsAndPushes(channels.registry, pushes.channel())
        self.service = SubscriptionService(
            store,
            queue,
            storage.outbox,
            storage.health,
            storage.instances,
            storage.event_log,
            pushes,
            SubscriptionAddresses(AllowedAddresses(foundation.policy), _own_addresses(settings)),
            foundation.ids,
            foundation.clock,
        )
        self.pushing = PushService(store, queue, storage.event_log, storage.event_feed)


def _own_addresses(settings: Settings) -> list[str]:
    return [settings.agent_url, f"http://{settings.http_host}:{settings.http_port}"]
