"""What the contract suite needs of this channel."""

from adapters.outbound.channels.tests.sample import Sample
from adapters.outbound.channels.tests.support import call

URL = "https://switchboard.example/api/agent/channels/cron/7/manual_trigger"
SECRET = {"X-Webhook-Secret": "open sesame"}

SAMPLE = Sample(
    fields=(
        "cronSchedule string R, message string R, timezone string, enabled boolean, "
        "oneShot boolean, triggerSecret string, deliverInstanceId number, deliverTo string"
    ),
    config={"cronSchedule": "0 9 * * *", "message": "Good morning.", "triggerSecret": "open sesame"},
    genuine={
        "bare": call(callback="manual_trigger", url=URL, headers=SECRET),
        "message": call(callback="manual_trigger", url=URL, headers=SECRET, as_json={"message": "Now!"}),
    },
    forged={"no secret": call(callback="manual_trigger", url=URL)},
)
