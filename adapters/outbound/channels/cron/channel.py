"""The cron channel: fires by the clock, and when manual_trigger is called. Answers go out through another instance,
or nowhere."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from adapters.outbound.channels.common.bodies import json_object, same
from adapters.outbound.channels.common.calls import json_answer
from adapters.outbound.channels.common.config import required, steps
from domain import limits
from domain.channels.messages import ChannelMetadata, Event, RawCall, Received, Sender
from domain.channels.model import ChannelDefinition, Format, SetupInstructions
from domain.channels.typed import ChannelConfig, ChannelTarget, ConfigModel, JsonModel, setting
from domain.conversations.model import Destination
from domain.instances.validation import text_fault
from domain.polling.model import Timing
from domain.refusals import Fault, Invalid, NotFound, Unauthenticated
from domain.time_zones import time_zone_fault
from domain.values import value
from ports.channels import Channel, ChannelDependencies

from . import schedule
from .schedule import fault


@dataclass(frozen=True, slots=True, kw_only=True)
class CronConfig(ChannelConfig):
    cron_schedule: str = required(
        "Five-field cron expression: minute hour day month weekday. For example '0 9 * * 1-5' is nine "
        "o'clock on working days.",
        check=fault,
    )
    message: str = required("Text that is sent to the resource on each firing.", format=Format.LINES)
    timezone: str = setting(
        "Time zone of the schedule by its IANA name, for example Europe/Berlin. Default: UTC.",
        check=time_zone_fault,
        basic=True,
    )
    enabled: bool | None = setting(
        "false: the schedule does not fire; manual_trigger still does. Default: true."
    )
    one_shot: bool = setting("true: the instance removes itself after one execution. Default: false.")
    trigger_secret: str = setting(
        "When set, a call of manual_trigger must carry it in the header X-Webhook-Secret.", secret=True
    )
    deliver_instance_id: float | None = setting(
        "Id of another instance of yours, such as a Slack bot, through which the answers go out. Without it they go "
        "nowhere.",
        check=lambda number: (
            None if number == int(number) and 0 < number < 2**63 else "must be the id of an instance"
        ),
    )
    deliver_to: str = setting(
        "Where that instance sends them: a session id, or an address of its platform. Default: its default channel.",
        check=lambda place: text_fault(place) or limits.text_fault(place, limits.ADDRESS),
    )


@value
class NoTarget(ChannelTarget):
    """Answers go where the configuration says."""


CONFIG = ConfigModel(CronConfig)
TARGET = JsonModel[ChannelTarget](NoTarget)

DEFINITION = ChannelDefinition(
    id="cron",
    name="Cron",
    description="Sends a message to the resource on a schedule, or when its trigger address is called.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Set up a schedule",
        steps=steps("""
            - Write the schedule as a five-field cron expression (minute hour day month weekday) and choose its
              time zone.
            - Write the message that the resource is to receive on each firing.
            - Create the instance here. It fires from then on; set enabled to false to pause it.
            - To fire it by hand, call this instance's manual_trigger URL; a JSON body with 'message' replaces
              the text for that firing. Set triggerSecret to keep the URL from being called by others.
        """),
        docs_url="https://pubs.opengroup.org/onlinepubs/9799919799/utilities/crontab.html",
        webhook_required=False,
        webhook_path="manual_trigger",
    ),
)


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
        """Checks the secret, if there is one, and fires, with the message of the body if there is one. Raises
        `Unauthenticated`, `Invalid`, `NotFound`."""
        if call.callback != CALLBACK:
            raise NotFound(f"This channel has no callback '{call.callback}'; its callback is '{CALLBACK}'.")
        secret = config.trigger_secret
        if secret and not same(call.headers.get(SECRET, ""), secret):
            raise Unauthenticated("X-Webhook-Secret is not the triggerSecret of this instance.")
        message = json_object(call.body).get("message") if call.body.strip() else None
        if message is not None and not isinstance(message, str):
            raise Invalid.of([Fault("message", "must be a string")])
        instance = call.url.partition("?")[0].rstrip("/").split("/")[-2]
        event = replace(firing(message or config.message, instance), request_id=call.id)
        answer = json_answer({"status": "accepted", "requestId": call.id}, 202)
        return Received(answer, events=(event,), kind="trigger")


def firing(message: str, instance: str) -> Event:
    return Event(key=None, session_id=instance, sender=Sender("cron", "Cron"), text=message, target={})


def build(dependencies: ChannelDependencies) -> Channel[CronConfig, ChannelTarget]:
    cron = Cron()
    return Channel(
        definition=DEFINITION, config=CONFIG, target=TARGET, webhook=cron, scheduler=cron, forwarding=cron
    )
