"""Files that a platform does not give out: the reason is told, and no internal error."""

import pytest

from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.calls import calls
from adapters.outbound.channels.tests.sample import Sample, Scripted
from adapters.outbound.channels.tests.support import dependencies
from ports.capabilities import PlatformError
from ports.http import HttpFailed
from tests.support.channel_samples import sample_of

AWAY = Scripted((), HttpFailed("the server is away", before_request=True))
REGISTRY = Registry.build(dependencies(AWAY))
SAMPLES: dict[str, Sample] = {
    channel.definition.id: sample
    for channel in REGISTRY.all()
    if (sample := sample_of(channel.definition.id)).over_http and sample.attachment
}


@pytest.mark.parametrize("channel_id", SAMPLES)
async def test_a_file_that_cannot_be_had_tells_why(channel_id: str) -> None:
    sample = SAMPLES[channel_id]
    assert sample.attachment is not None
    built = Registry.build(dependencies(AWAY, sample.addresses))
    channel = calls(built.find(channel_id))
    with pytest.raises(PlatformError, match="the server is away"):
        assert [piece async for piece in channel.fetch(sample.config, sample.attachment)]
