"""Makes the runner that a rule asks for."""

from collections.abc import Callable
from dataclasses import replace

from adapters.outbound.downstream.builtin import Builtins
from adapters.outbound.downstream.chat_completions import ChatCompletionsRunner
from adapters.outbound.downstream.chat_model import ChatModel
from adapters.outbound.downstream.grpc_runner import GrpcChannels, GrpcRunner
from adapters.outbound.downstream.http_runner import HttpRunner
from adapters.outbound.downstream.rules import BuiltinTarget, GrpcTarget, HttpTarget, Rule
from domain.routing.model import RunRequest, RunResult
from ports.downstream import ChatHistory, Downstream
from ports.http import Http

Retry = Callable[[Downstream], Downstream]


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
        self, http: Http, channels: GrpcChannels, history: ChatHistory, builtins: Builtins, retry: Retry
    ) -> None:
        self._http = http
        self._channels = channels
        self._history = history
        self._builtins = builtins
        self._retry = retry

    def build(self, rule: Rule) -> Downstream:
        runner = self._runner(rule)
        return runner if rule.timeout is None else Timed(runner, rule.timeout)

    def for_url(self, url: str) -> Downstream:
        """What runs everything that no rule and no built-in takes."""
        return self._retry(HttpRunner(self._http, url))

    def _runner(self, rule: Rule) -> Downstream:
        target = rule.target
        if isinstance(target, BuiltinTarget):
            return self._builtins.get(target.resource)
        if isinstance(target, HttpTarget):
            return self._retry(HttpRunner(self._http, target.url, target.token))
        if isinstance(target, GrpcTarget):
            return self._retry(GrpcRunner(self._channels, target.target, tls=target.tls, token=target.token))
        model: ChatModel = target
        return self._retry(ChatCompletionsRunner(self._http, self._history, model))
