"""The kinds of resources, and presets of rules: what is the same wherever a model or service of a maker is asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adapters.outbound.resources.a2a.target import A2aTarget, CardCache
from adapters.outbound.resources.ag_ui_agent import AgUiAgent
from adapters.outbound.resources.builtin import Builtins, BuiltinTarget
from adapters.outbound.resources.dify import DifyRunner, DifyTarget
from adapters.outbound.resources.flowise import FlowiseRunner, FlowiseTarget
from adapters.outbound.resources.grpc_runner import GrpcChannels, GrpcRunner, GrpcTarget
from adapters.outbound.resources.http_runner import HttpRunner, HttpTarget
from adapters.outbound.resources.knowledge_tool import Knowledge, WithSources
from adapters.outbound.resources.langgraph_runner import LangGraphRunner
from adapters.outbound.resources.langgraph_server import LangGraphAgent
from adapters.outbound.resources.model_runner import ModelRunner
from adapters.outbound.resources.model_settings import CHAT_COMPLETIONS, RESPONSES, ChatModel
from adapters.outbound.resources.targets import Keys, Target
from ports.http import Http
from ports.resources import AgentTasks, ChatHistory, Downstream, KnowledgeReader, ResourceStates

if TYPE_CHECKING:
    from adapters.outbound.resources.a2a.runner import A2aRunner


@dataclass(frozen=True, slots=True)
class Parts:
    """What runners are made of: the shared HTTP client, gRPC connections, chat history and states of resources."""

    http: Http
    channels: GrpcChannels
    history: ChatHistory
    states: ResourceStates
    tasks: AgentTasks
    builtins: Builtins
    reader: KnowledgeReader
    retry: Callable[[Downstream], Downstream]
    cards: CardCache = field(default_factory=CardCache)


def a2a_runner(parts: Parts, target: A2aTarget) -> "A2aRunner":
    from adapters.outbound.resources.a2a.runner import A2aRunner  # its library takes half a second

    return A2aRunner(parts.http, parts.states, parts.tasks, target, parts.cards)


def _ag_ui_runner(parts: Parts, agent: AgUiAgent) -> Downstream:
    # loads the models of the protocol
    from adapters.outbound.resources.ag_ui_runner import AgUiRunner

    return parts.retry(AgUiRunner(parts.http, parts.states, agent))


def _grpc_runner(parts: Parts, target: GrpcTarget) -> Downstream:
    tls = target.tls.watched() if target.tls else None
    return parts.retry(GrpcRunner(parts.channels, target.target, tls=tls, token=target.token))


def _model_runner(parts: Parts, model: ChatModel) -> Downstream:
    chat = ModelRunner(parts.http, parts.history, model, Knowledge(parts.reader))
    return WithSources(parts.retry(chat))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of resource: what its rules say, and what runs them."""

    target: type[Target]
    runner: Callable[[Parts, Any], Downstream]


_MODEL = Kind(ChatModel, _model_runner)
KINDS = {
    "builtin": Kind(BuiltinTarget, lambda parts, builtin: parts.builtins.get(builtin.resource)),
    "http": Kind(HttpTarget, lambda parts, http: parts.retry(HttpRunner(parts.http, http.url, http.token))),
    "grpc": Kind(GrpcTarget, _grpc_runner),
    CHAT_COMPLETIONS: _MODEL,
    RESPONSES: _MODEL,
    "langgraph": Kind(
        LangGraphAgent, lambda parts, graph: parts.retry(LangGraphRunner(parts.http, parts.states, graph))
    ),
    "ag-ui": Kind(AgUiAgent, _ag_ui_runner),
    "a2a": Kind(A2aTarget, lambda parts, agent: parts.retry(a2a_runner(parts, agent))),
    "dify": Kind(DifyTarget, lambda parts, dify: parts.retry(DifyRunner(parts.http, parts.states, dify))),
    "flowise": Kind(FlowiseTarget, lambda parts, flow: parts.retry(FlowiseRunner(parts.http, flow))),
}
"""Each needs its module, a line here, and its name in `adapters.inbound.rest.resources`."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Keys for rules that lack them. `kinds` that work with it, the first of which is taken where the rule names
    none. `url`: empty where each installation has its own."""

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
    "dify": Preset(("dify",), "https://api.dify.ai/v1"),
    # https://docs.n8n.io/integrations/builtin/core-nodes/n8n-nodes-base.webhook/
    "n8n": Preset(("http",)),
    "flowise": Preset(("flowise",)),
}


def read_kind(keys: Keys) -> str:
    """The kind, and from here on the keys of the preset that the table does not have itself. Raises `BadRules`."""
    name = keys.value("preset", str, "the name of a preset")
    preset = PRESETS.get(name) if name is not None else None
    if name is not None and preset is None:
        raise keys.fault("preset", f"must be one of {', '.join(PRESETS)}")
    if preset:
        keys.table = {**preset.defaults(), **keys.table}
    kind = keys.text("kind")
    if preset and kind not in preset.kinds:
        raise keys.fault("kind", f"must be {' or '.join(preset.kinds)} with the preset {name}")
    if kind not in KINDS:
        raise keys.fault(
            "kind", f"must be one of {', '.join(kind for kind in KINDS if kind not in keys.unnamed)}"
        )
    return kind
