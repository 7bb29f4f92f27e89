"""The agent-protocol channel: an A2A agent in front of a resource."""

from adapters.outbound.channels.common.programs import LinkedFiles
from ports.channels import Channel, ChannelDependencies

from . import webhook
from .answering import Streamer
from .config import CONFIG, DEFINITION, TARGET, AgentConfig, AgentTarget


def build(dependencies: ChannelDependencies) -> Channel[AgentConfig, AgentTarget]:
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        call_streamer=Streamer(),
        fetcher=LinkedFiles(dependencies.http),
    )
