"""Every channel of the registry that can send a message first keeps the contract of openings."""

from adapters.outbound.channels.registry import BUILDERS
from adapters.outbound.channels.tests.openings import OpeningContract
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from ports.http import HttpAnswer
from tests.support.channel_samples import sample_of

NEVER_SENDS = {"cron"}

CHANNELS = [
    (builder, builder(dependencies(Scripted((), HttpAnswer(200, {}, b"{}"))))) for builder in BUILDERS
]

for builder, channel in CHANNELS:
    channel_id = channel.definition.id
    if channel.opener is not None:
        name = "Test" + "".join(word.capitalize() for word in channel_id.split("-"))
        members = {"build": staticmethod(builder), "sample": sample_of(channel_id)}
        globals()[name] = type(name, (OpeningContract,), members)
