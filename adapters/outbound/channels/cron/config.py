"""What the cron channel is: its configuration and its set-up."""

from dataclasses import dataclass

from domain import limits
from domain.channels.model import ChannelDefinition, Format, SetupInstructions
from domain.channels.typed import ChannelConfig, ChannelTarget, ConfigModel, JsonModel, setting
from domain.instances.validation import text_fault
from domain.values import value

from .schedule import fault, timezone_fault


def _instance_fault(number: float) -> str | None:
    return None if number == int(number) and 0 < number < 2**63 else "must be the id of an instance"


def _place_fault(place: str) -> str | None:
    return text_fault(place) or limits.text_fault(place, limits.ADDRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CronConfig(ChannelConfig):
    cron_schedule: str = setting(
        "Five-field cron expression: minute hour day month weekday. For example '0 9 * * 1-5' is nine "
        "o'clock on working days.",
        required=True,
        check=fault,
    )
    message: str = setting(
        "Text that is sent to the resource on each firing.", required=True, format=Format.LINES
    )
    timezone: str = setting(
        "Time zone of the schedule by its IANA name, for example Europe/Berlin. Default: UTC.",
        check=timezone_fault,
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
        check=_instance_fault,
    )
    deliver_to: str = setting(
        "Where that instance sends them: a session id, or an address of its platform. Default: its default channel.",
        check=_place_fault,
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
        steps=(
            (
                "Write the schedule as a five-field cron expression (minute hour day month weekday) and choose its "
                "time zone."
            ),
            "Write the message that the resource is to receive on each firing.",
            "Create the instance here. It fires from then on; set enabled to false to pause it.",
            (
                "To fire it by hand, call this instance's manual_trigger URL; a JSON body with 'message' replaces "
                "the text for that firing. Set triggerSecret to keep the URL from being called by others."
            ),
        ),
        docs_url="https://pubs.opengroup.org/onlinepubs/9799919799/utilities/crontab.html",
        webhook_required=False,
        webhook_path="manual_trigger",
    ),
)
