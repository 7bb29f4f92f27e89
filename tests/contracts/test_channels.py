"""Every channel of the registry keeps the contract of channels. A channel takes part by a `tests/samples.py`."""

import json

import pytest

from adapters.outbound.channels.registry import BUILDERS
from adapters.outbound.channels.tests.contract import ChannelContract
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from ports.http import HttpAnswer
from tests.support.channel_samples import ROOT, sample_of

CHANNELS = {
    builder(dependencies(Scripted((), HttpAnswer(200, {}, b"{}")))).definition.id: builder
    for builder in BUILDERS
}

for channel_id, builder in CHANNELS.items():
    name = "Test" + "".join(word.capitalize() for word in channel_id.split("-"))
    members = {
        "build": staticmethod(builder),
        "sample": sample_of(channel_id),
        "page": ROOT / "docs/channels" / f"{channel_id}.md",
    }
    globals()[name] = type(name, (ChannelContract,), members)


@pytest.mark.parametrize("channel_id", CHANNELS)
def test_the_folder_has_tests_and_readable_fixtures(channel_id: str) -> None:
    folder = ROOT / "adapters/outbound/channels" / channel_id.replace("-", "_")
    assert list((folder / "tests").glob("test_*.py"))
    for fixture in (folder / "fixtures").glob("*.json"):
        json.loads(fixture.read_text())
