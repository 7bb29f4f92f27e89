"""The cron channel."""

from __future__ import annotations

from datetime import UTC, datetime

from adapters.outbound.channels.cron.definition import DEFINITION
from adapters.outbound.channels.cron.schedule import next_fire
from adapters.outbound.channels.cron.webhook import firing, receive
from domain.channels.messages import ChannelMetadata, Config, Event, RawCall, Received
from domain.channels.typed import RAW
from ports.channels import Channel, ChannelDependencies


class Cron:
    """Fires by the clock, and when manual_trigger is called. Answers go nowhere."""

    def next_fire(self, config: Config, after: datetime) -> datetime | None:
        if config.get("enabled") is False:
            return None
        return next_fire(str(config["cronSchedule"]), str(config.get("timezone") or "UTC"), after)

    def fired(self, config: Config, instance_id: int, at: datetime) -> Event:
        scheduled = at.astimezone(UTC).isoformat()
        return firing(
            config, str(instance_id), key=f"{instance_id}:{scheduled}", raw={"scheduledAt": scheduled}
        )

    def fires_once(self, config: Config) -> bool:
        return config.get("oneShot") is True

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return receive(config, call)


def build(dependencies: ChannelDependencies) -> Channel[Config, Config]:
    channel = Cron()
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        webhook=channel,
        scheduler=channel,
    )
