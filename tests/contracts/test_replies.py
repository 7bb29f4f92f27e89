"""Every channel whose platform knows replies hands on what was replied to."""

from adapters.outbound.channels.tests.replies import ReplyContract
from tests.contracts.test_channels import CHANNELS
from tests.support.channel_samples import sample_of

NO_REPLIES = {
    "sms-provider", "http-webhook", "cron", "drive-folder", "erp-events", "web-chat", "chat-completions-api",
    "agent-protocol",
}  # fmt: skip
"""Platforms that know no replies."""

for channel_id in sorted(CHANNELS.keys() - NO_REPLIES):
    name = "TestRepliesOf" + "".join(word.capitalize() for word in channel_id.split("-"))
    members = {"build": staticmethod(CHANNELS[channel_id]), "sample": sample_of(channel_id)}
    globals()[name] = type(name, (ReplyContract,), members)


def test_the_others_know_no_replies() -> None:
    assert {channel_id for channel_id in CHANNELS if not sample_of(channel_id).replies} == NO_REPLIES
