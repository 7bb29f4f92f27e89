"""Finds and makes what runs behind a resource id: by rule, built-in, or the address for all others."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.outbound.downstream.builtin import Builtins
from adapters.outbound.downstream.chat_completions import ChatCompletionsRunner
from adapters.outbound.downstream.chat_model import ChatModel
from adapters.outbound.downstream.given_turns import GivenTurns
from adapters.outbound.downstream.grpc_runner import GrpcChannels, GrpcRunner
from adapters.outbound.downstream.http_runner import HttpRunner
from adapters.outbound.downstream.knowledge_tool import Knowledge, WithSources
from adapters.outbound.downstream.rules import BuiltinTarget, GrpcTarget, HttpTarget, Rule
from adapters.outbound.downstream.rules_file import RulesFile
from domain.knowledge.model import Base
from domain.routing.model import Resource, RunRequest, RunResult
from ports.http import Http
from ports.resources import ChatHistory, Downstream, KnowledgeReader, Turn

Retry = Callable[[Downstream], Downstream]

log = logging.getLogger(__name__)


class Router:
    """Runs each request where its resource lives. An id that nothing is connected to is answered with a plain
    note: trying again would not help the sender. `default` runs what no rule and no built-in takes."""

    def __init__(self, rules: RulesFile, builtins: Builtins, default: Downstream | None = None) -> None:
        self._rules = rules
        self._builtins = builtins
        self.default = default

    async def run(self, request: RunRequest) -> RunResult:
        runner = self._rules.find(request.resource) or self._builtins.find(request.resource) or self.default
        if runner is None:
            return _nothing_connected(request.resource)
        return _without_nul(await runner.run(request))


def _without_nul(result: RunResult) -> RunResult:
    """The result without NUL characters, which no platform takes and no database stores as text."""
    asked = result.confirmation
    if asked is None and "\0" not in result.text:
        return result
    if asked is not None:
        asked = replace(asked, parameters=_clean(asked.parameters))
    return replace(result, text=_clean(result.text), confirmation=asked)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, Mapping):
        return {_clean(name): _clean(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


def _nothing_connected(resource: Resource) -> RunResult:
    log.warning("nothing is connected to a resource id", extra={"resource": str(resource)})
    return RunResult(f"No resource is connected to {resource}, so nobody can answer.")


class Timed:
    """Gives each run the time that its rule says, in place of the default."""

    def __init__(self, inner: Downstream, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds

    async def run(self, request: RunRequest) -> RunResult:
        if request.timeout != self._seconds:
            request = replace(request, timeout=self._seconds)
        return await self._inner.run(request)


class Runners:
    """Builds runners over the shared HTTP client, gRPC connections and chat history."""

    def __init__(
        self,
        http: Http,
        channels: GrpcChannels,
        history: ChatHistory,
        builtins: Builtins,
        reader: KnowledgeReader,
        retry: Retry,
    ) -> None:
        self._http = http
        self._channels = channels
        self._history = history
        self._builtins = builtins
        self._reader = reader
        self._retry = retry

    def build(self, rule: Rule) -> Downstream:
        runner = self._runner(rule)
        return runner if rule.timeout is None else Timed(runner, rule.timeout)

    def for_url(self, url: str) -> Downstream:
        """What runs everything that no rule and no built-in takes."""
        return self._retry(HttpRunner(self._http, url))

    def for_question(self, model: ChatModel, base: Base, earlier: Sequence[Turn]) -> Downstream:
        """What answers one question from a base: with no other tools, as nobody could confirm their use."""
        knowledge = Knowledge(self._reader, base)
        alone = replace(model, tools=())
        return self._retry(ChatCompletionsRunner(self._http, GivenTurns(earlier), alone, knowledge))

    def _runner(self, rule: Rule) -> Downstream:
        target = rule.target
        if isinstance(target, BuiltinTarget):
            return self._builtins.get(target.resource)
        if isinstance(target, HttpTarget):
            return self._retry(HttpRunner(self._http, target.url, target.token))
        if isinstance(target, GrpcTarget):
            tls = target.tls.watched() if target.tls else None
            return self._retry(GrpcRunner(self._channels, target.target, tls=tls, token=target.token))
        model: ChatModel = target
        runner = ChatCompletionsRunner(self._http, self._history, model, Knowledge(self._reader))
        return WithSources(self._retry(runner))
