"""Configuration, targets and set-up of the chat-completions endpoint."""

from dataclasses import dataclass
from typing import Any

from adapters.outbound.channels.common.config import steps
from adapters.outbound.channels.common.programs import key_fault
from domain.channels.model import ChannelDefinition, SetupInstructions
from domain.channels.typed import ChannelTarget, CommonConfig, ConfigModel, JsonModel, setting
from domain.values import value

DEFAULT_MODEL = "switchboard"
LONGEST_MODEL = 100


def model_fault(name: str) -> str | None:
    good = len(name) <= LONGEST_MODEL and name.isprintable() and "/" not in name
    return None if good else f"must have at most {LONGEST_MODEL} characters, and no slash"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionsConfig(CommonConfig):
    api_key: str = setting(
        "Key that programs send as Bearer token, at least 16 characters. Choose a long random one.",
        required=True,
        secret=True,
        check=key_fault,
    )
    model_name: str = setting(
        f"Name of the model that the endpoint lists (default {DEFAULT_MODEL}).", basic=True, check=model_fault
    )


@value
class CompletionsTarget(ChannelTarget):
    """`thread` holds the earlier messages of the request, each as author and text; `created` is in seconds since
    1970."""

    stream: bool = False
    created: int = 0
    thread: tuple[Any, ...] = ()


CONFIG = ConfigModel(CompletionsConfig)
TARGET = JsonModel(CompletionsTarget)

DEFINITION = ChannelDefinition(
    id="chat-completions-api",
    name="Chat completions API",
    description="An endpoint that speaks the chat-completions protocol of OpenAI: its clients talk to a resource.",
    fields=CONFIG.fields,
    without_public_address="Programs in the same network call it at the address of this server.",
    setup=SetupInstructions(
        title="Set up a chat-completions endpoint",
        steps=steps("""
            - Choose a long random apiKey, and create the instance.
            - Give the program {base_url}/api/agent/channels/chat-completions-api/{instance_id}/v1 as its base URL,
              and the apiKey as its API key.
            - Choose the model that the endpoint lists; any other name is taken too.
            - To keep a conversation together, send its id as user, as metadata.session_id or in the header
              X-Session-Id. Otherwise each call is a conversation of its own.
        """),
        docs_url="https://platform.openai.com/docs/api-reference/chat",
        webhook_required=True,
        webhook_path="v1",
    ),
)
