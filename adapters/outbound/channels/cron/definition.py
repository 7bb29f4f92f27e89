"""What the cron channel is: its fields and how to set it up."""

from __future__ import annotations

from domain.channels.model import ChannelDefinition, ConfigField, Format, SetupInstructions

DEFINITION = ChannelDefinition(
    id="cron",
    name="Cron",
    description="Sends a message to the resource on a schedule, or when its trigger address is called.",
    fields=(
        ConfigField(
            "cronSchedule",
            "string",
            "Five-field cron expression: minute hour day month weekday. For example '0 9 * * 1-5' is nine "
            "o'clock on working days.",
            required=True,
            format=Format.CRON,
        ),
        ConfigField(
            "message",
            "string",
            "Text that is sent to the resource on each firing.",
            required=True,
            format=Format.LINES,
        ),
        ConfigField(
            "timezone",
            "string",
            "Time zone of the schedule by its IANA name, for example Europe/Berlin. Default: UTC.",
            format=Format.TIMEZONE,
        ),
        ConfigField(
            "enabled",
            "boolean",
            "false: the schedule does not fire; manual_trigger still does. Default: true.",
        ),
        ConfigField(
            "oneShot",
            "boolean",
            "true: the instance removes itself after one execution. Default: false.",
        ),
        ConfigField(
            "triggerSecret",
            "string",
            "When set, a call of manual_trigger must carry it in the header X-Webhook-Secret.",
            secret=True,
        ),
    ),
    setup=SetupInstructions(
        title="Set up a schedule",
        steps=(
            (
                "Write the schedule as a five-field cron expression (minute hour day month weekday) and "
                "choose its time zone."
            ),
            "Write the message that the resource is to receive on each firing.",
            "Create the instance here. It fires from then on; set enabled to false to pause it.",
            (
                "To fire it by hand, call this instance's manual_trigger URL; a JSON body with 'message' "
                "replaces the text for that firing. Set triggerSecret to keep the URL from being called by "
                "others."
            ),
        ),
        docs_url="https://pubs.opengroup.org/onlinepubs/9799919799/utilities/crontab.html",
        webhook_required=False,
        webhook_path="manual_trigger",
    ),
)
