"""The limits of an account are known without a message: the health of an instance tells its cooldown by them."""

from datetime import UTC, datetime

import pytest

from adapters.outbound.channels.registry import BUILDERS
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from domain.delivery.concurrency import known_limits
from domain.instances.model import Instance
from ports.channels import AnyChannel
from ports.http import HttpAnswer
from tests.support.channel_samples import sample_of

CHANNELS = [builder(dependencies(Scripted((), HttpAnswer(200, {}, b"{}")))) for builder in BUILDERS]


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel.definition.id)
def test_the_account_of_a_channel_is_known(channel: AnyChannel, caplog: pytest.LogCaptureFixture) -> None:
    sample, now = sample_of(channel.definition.id), datetime.now(UTC)
    instance = Instance(1, "ann", channel.definition.id, "bot", sample.config, None, now, now)
    limits = known_limits(instance, channel)
    assert not caplog.records
    if channel.limits and not sample.account_by_target:
        target = channel.target.load(sample.target)
        assert limits
        assert limits.account == channel.limits.limits(channel.config.load(sample.config), target).account
