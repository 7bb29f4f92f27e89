"""Presets of rules: what is the same wherever a model or service of a maker is asked. Keys of the rule come first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.outbound.resources.chat_model import CHAT_COMPLETIONS, RESPONSES
from adapters.outbound.resources.dify import DIFY
from adapters.outbound.resources.flowise import FLOWISE


@dataclass(frozen=True, slots=True)
class Preset:
    """`kinds` that work with it, the first of which is taken where the rule names none. `url`: empty where each
    installation has its own."""

    kinds: tuple[str, ...]
    url: str = ""
    stream: bool = False

    def defaults(self) -> Mapping[str, Any]:
        """The keys that a rule gets."""
        url = {"url": self.url} if self.url else {}
        return {"kind": self.kinds[0], **url, **({"stream": True} if self.stream else {})}


_BOTH = (CHAT_COMPLETIONS, RESPONSES)
PRESETS = {
    "openai": Preset((RESPONSES, CHAT_COMPLETIONS), "https://api.openai.com/v1", stream=True),
    # https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk
    "anthropic": Preset((CHAT_COMPLETIONS,), "https://api.anthropic.com/v1", stream=True),
    # https://ai.google.dev/gemini-api/docs/openai
    "google": Preset(
        (CHAT_COMPLETIONS,), "https://generativelanguage.googleapis.com/v1beta/openai", stream=True
    ),
    # https://docs.ollama.com/api/openai-compatibility
    "ollama": Preset(_BOTH, "http://127.0.0.1:11434/v1", stream=True),
    # https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
    "vllm": Preset(_BOTH, "http://127.0.0.1:8000/v1", stream=True),
    # https://docs.litellm.ai/docs/proxy/user_keys
    "litellm": Preset(_BOTH, "http://127.0.0.1:4000/v1", stream=True),
    "dify": Preset((DIFY,), "https://api.dify.ai/v1"),
    # https://docs.n8n.io/integrations/builtin/core-nodes/n8n-nodes-base.webhook/
    "n8n": Preset(("http",)),
    "flowise": Preset((FLOWISE,)),
}
