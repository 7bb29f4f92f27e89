"""The cron channel: fires by the clock, and when manual_trigger is called. Answers go out through another instance,
or nowhere."""

from dataclasses import replace
from datetime import UTC, datetime

from adapters.outbound.channels.common.bodies import json_object, same
from adapters.outbound.channels.common.calls import json_answer
from domain.channels.messages import ChannelMetadata, Event, RawCall, Received, Sender
from domain.channels.typed import ChannelTarget
from domain.conversations.model import Destination
from domain.polling.model import Timing
from domain.refusals import Fault, Invalid, NotFound, Unauthenticated
from ports.channels import Channel, ChannelDependencies

from . import schedule
from .config import CONFIG, DEFINITION, TARGET, CronConfig

CALLBACK = "manual_trigger"
SECRET = "x-webhook-secret"  # noqa: S105 - the name of a header


class Cron:
    def next_fire(self, config: CronConfig, after: datetime) -> datetime | None:
        if config.enabled is False:
            return None
        return schedule.next_fire(config.cron_schedule, config.timezone or "UTC", after)

    def fired(self, config: CronConfig, instance_id: int, at: datetime) -> Event:
        scheduled = at.astimezone(UTC).isoformat()
        event = firing(config.message, str(instance_id))
        return replace(event, key=f"{instance_id}:{scheduled}", raw={"scheduledAt": scheduled})

    def fires_once(self, config: CronConfig) -> bool:
        return config.one_shot

    def timing(self, config: CronConfig) -> Timing:
        words = schedule.in_words(config.cron_schedule)
        if config.enabled is False:
            words = f"Switched off (enabled is false). {words}"
        if config.one_shot:
            words = f"{words}, once"
        return Timing(words, config.cron_schedule, config.timezone or "UTC")

    def destination(self, config: CronConfig) -> Destination | None:
        number = config.deliver_instance_id
        if number is None and not config.deliver_to:
            return None
        return Destination(None if number is None else int(number), config.deliver_to)

    def receive(
        self, config: CronConfig, call: RawCall, metadata: ChannelMetadata, now: datetime
    ) -> Received:
        """Checks the secret, if there is one, and fires. Raises `Unauthenticated`, `Invalid`, `NotFound`."""
        if call.callback != CALLBACK:
            raise NotFound(f"This channel has no callback '{call.callback}'; its callback is '{CALLBACK}'.")
        secret = config.trigger_secret
        if secret and not same(call.headers.get(SECRET, ""), secret):
            raise Unauthenticated("X-Webhook-Secret is not the triggerSecret of this instance.")
        instance = call.url.partition("?")[0].rstrip("/").split("/")[-2]
        event = replace(firing(_message(call) or config.message, instance), request_id=call.id)
        answer = json_answer({"status": "accepted", "requestId": call.id}, 202)
        return Received(answer, events=(event,), kind="trigger")


def firing(message: str, instance: str) -> Event:
    return Event(key=None, session_id=instance, sender=Sender("cron", "Cron"), text=message, target={})


def _message(call: RawCall) -> str | None:
    """The message of the call, which replaces the configured one. Raises `Invalid`."""
    if not call.body.strip():
        return None
    message = json_object(call.body).get("message")
    if message is not None and not isinstance(message, str):
        raise Invalid.of([Fault("message", "must be a string")])
    return message


def build(dependencies: ChannelDependencies) -> Channel[CronConfig, ChannelTarget]:
    cron = Cron()
    return Channel(
        definition=DEFINITION, config=CONFIG, target=TARGET, webhook=cron, scheduler=cron, forwarding=cron
    )
