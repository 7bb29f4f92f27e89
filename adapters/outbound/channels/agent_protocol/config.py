"""Configuration, targets and set-up of the agent protocol."""

from dataclasses import dataclass

from adapters.outbound.channels.common.config import steps
from adapters.outbound.channels.common.programs import key_fault
from domain.channels.model import ChannelDefinition, Format, SetupInstructions
from domain.channels.typed import ChannelTarget, CommonConfig, ConfigModel, JsonModel, setting
from domain.values import value

CARD = ".well-known/agent-card.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig(CommonConfig):
    api_key: str = setting(
        "Key that other agents send as Bearer token, at least 16 characters. Choose a long random one.",
        required=True,
        secret=True,
        check=key_fault,
    )
    agent_name: str = setting("Name of the agent in its card (default Agent).", basic=True)
    agent_description: str = setting(
        "What the agent can do, for its card: by it others choose it.", basic=True
    )
    skills: str = setting(
        "Skills in the card, one a line, each as 'name: what it does' (default one skill, to answer).",
        format=Format.LINES,
    )


@value
class AgentTarget(ChannelTarget):
    """`task` is the task of a message."""

    task: str = ""
    stream: bool = False


CONFIG = ConfigModel(AgentConfig)
TARGET = JsonModel(AgentTarget)

DEFINITION = ChannelDefinition(
    id="agent-protocol",
    name="Agent protocol (A2A)",
    description="Other agents write to a resource by the Agent2Agent protocol: an agent card, tasks and streams.",
    fields=CONFIG.fields,
    without_public_address="Agents in the same network call it at the address of this server.",
    setup=SetupInstructions(
        title="Set up an agent for other agents",
        steps=steps("""
            - Choose a long random apiKey, and say in agentDescription and skills what the agent can do.
            - Create the instance. Its card is at
              {base_url}/api/agent/channels/agent-protocol/{instance_id}/.well-known/agent-card.json.
            - Give the other agent {base_url}/api/agent/channels/agent-protocol/{instance_id} as the agent's address,
              and the apiKey as its Bearer token.
        """),
        docs_url="https://a2a-protocol.org/latest/specification/",
        webhook_required=True,
        webhook_path=CARD,
    ),
)
