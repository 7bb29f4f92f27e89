"""The calls of channels in tests of the project."""

from adapters.outbound.channels.tests.calls import ChannelCalls as ChannelCalls
from adapters.outbound.channels.tests.calls import a_channel as a_channel
from adapters.outbound.channels.tests.calls import calls as calls
from adapters.outbound.channels.tests.calls import receiver as receiver
