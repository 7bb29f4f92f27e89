"""Each channel says who proves the senders of its events, and the docs say the same."""

import asyncio
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import NOW, dependencies
from domain.callbacks import CallVerifier
from domain.channels.model import Proof
from domain.instances.model import Instance
from ports.channels import AnyChannel
from ports.http import HttpAnswer
from tests.support.channel_samples import ROOT, sample_of

CHANNELS: Mapping[str, AnyChannel] = {
    channel.definition.id: channel
    for channel in Registry.build(dependencies(Scripted((), HttpAnswer(200, {}, b"{}")))).all()
}
SIGNED_CALLS = [name for name, channel in CHANNELS.items() if channel.webhook and sample_of(name).genuine]


def ways_of(channel: AnyChannel) -> list[str]:
    """Who proves the senders of calls, of a connection, and of what else there is."""
    polls = channel.poller or channel.scheduler or channel.chat_site
    return [
        channel.call_proof if channel.webhook else "",
        channel.connection_proof if channel.connector else "",
        Proof.OWNER if polls else "",
    ]


def test_the_docs_say_for_each_channel_who_proves_its_senders() -> None:
    page = (ROOT / "docs/verification.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \|([^|]*)\|([^|]*)\|([^|]*)\|$", page, re.MULTILINE)
    told = {name: [way.partition(":")[0].strip() for way in ways] for name, *ways in rows}
    assert told == {name: ways_of(channel) for name, channel in CHANNELS.items()}


class Known:
    """Metadata that a sample knows beforehand."""

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        self.metadata = metadata

    async def of(self, *_: object) -> Mapping[str, Any]:
        return self.metadata

    async def renewed(self, *_: object) -> None:
        return None


class Silent:
    """A clock that stands, and a health and a meter that nobody reads."""

    def now(self) -> datetime:
        return NOW

    async def unproved(self, *_: object) -> None: ...

    def received(self, *_: object) -> None: ...


@pytest.mark.parametrize("channel_id", SIGNED_CALLS)
def test_the_senders_of_calls_are_proved_as_the_channel_says(channel_id: str) -> None:
    channel, sample, silent = CHANNELS[channel_id], sample_of(channel_id), Silent()
    verifier = CallVerifier(Known(sample.metadata), silent, silent, silent, require_signatures=False)  # type: ignore[arg-type]
    instance = Instance(7, "ann", channel_id, "Works", sample.config, None, NOW, NOW)
    assert channel.webhook is not None
    for call in sample.genuine.values():
        received = asyncio.run(verifier.verify(instance, channel, channel.webhook, call))
        for sender in (event.sender for event in received.events):
            assert sender.proof is channel.call_proof or not sender.identities
            assert not (received.missing_proof_field and sender.identities)


def test_an_event_is_proved_by_the_owner_unless_a_channel_says_otherwise() -> None:
    by_platform = {
        name
        for name, channel in CHANNELS.items()
        if Proof.PLATFORM in (channel.call_proof, channel.connection_proof)
    }
    assert by_platform == {
        "workspace-chat",
        "enterprise-chat",
        "gaming-chat",
        "bot-messenger",
        "linked-device-messaging",
    }


CHANGED_FREELY = {
    "accessMode", "identifyUsers", "mergeSeconds", "transcribe", "ackReaction", "reactions",
    "allowedChannels", "requireMention", "followThreads", "replyInThread", "connection", "checkInterval",
    "since", "sharedThreads", "answerLists", "answerAutomatic", "answerNoReply", "smtpSecure", "imapSecure",
    "defaultChannel", "appId", "tenantId", "defaultChannelId", "parseMode", "disableWebPagePreview",
    "apiVersion", "allowedNumbers", "messagingServiceSid", "acknowledge", "messageField", "sessionIdField",
    "syncResponse", "timezone", "enabled", "oneShot", "deliverInstanceId", "deliverTo", "fileTypes",
    "knowledgeBaseId", "allowedOrigins", "title", "greeting", "colour", "modelName",
    "agentName", "agentDescription", "skills",
}  # fmt: skip
"""Fields that say nothing of who can write in the name of others: an owner may change them of a trusted instance."""


def test_a_change_of_all_other_fields_ends_trust() -> None:
    freely = {
        field.name
        for channel in CHANNELS.values()
        for field in channel.definition.fields
        if field.name not in channel.definition.origin({})
    }
    assert freely == CHANGED_FREELY
