"""Finds and makes what runs behind a resource id: by rule, built-in, or the address for all others."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from math import ldexp
from typing import Any, Self

from adapters.outbound.resources.builtin import Builtins
from adapters.outbound.resources.echoed_secrets import without_secrets
from adapters.outbound.resources.http_runner import HttpRunner
from adapters.outbound.resources.kinds import KINDS, Parts
from adapters.outbound.resources.knowledge_tool import Knowledge
from adapters.outbound.resources.model_runner import ModelRunner
from adapters.outbound.resources.model_settings import ChatModel
from adapters.outbound.resources.rules import Rule
from adapters.outbound.resources.rules_file import RulesFile
from adapters.outbound.resources.targets import Target
from domain.knowledge.model import Base
from domain.routing.model import Resource, RunRequest, RunResult
from domain.usage.model import Prices
from ports.resources import Downstream, DownstreamFailed, Turn

FIRST_WAIT = 0.5
LONGEST_WAIT = 20.0
MAX_ATTEMPTS = 6


@dataclass(frozen=True, slots=True)
class Retrying:
    """Runs `inner` until it answers, fails for good, or the request's `timeout` leaves no room.

    Waits double from half a second, with a random part of up to half; Retry-After is never undercut.
    What may have used a tool that a person approved is not tried again: that was approved for one use.
    `sleep`, `now` (monotonic seconds) and `chance` (in [0, 1)) are injected.
    """

    inner: Downstream
    _: KW_ONLY
    sleep: Callable[[float], Awaitable[object]]
    now: Callable[[], float]
    chance: Callable[[], float]
    attempts: int = MAX_ATTEMPTS

    async def run(self, request: RunRequest) -> RunResult:
        """Raises the last `DownstreamFailed`."""
        deadline = self.now() + request.timeout
        attempt, attempted = 1, request
        while True:
            try:
                async with asyncio.timeout(attempted.timeout):
                    return await self.inner.run(attempted)
            except TimeoutError:
                raise DownstreamFailed(
                    f"the resource does not answer within {request.timeout:g} s", retryable=False
                ) from None
            except DownstreamFailed as failed:
                approval = request.approval
                is_used_up = approval is not None and approval.permits and failed.begun
                if is_used_up or not failed.retryable:
                    raise
                backoff = min(LONGEST_WAIT, ldexp(FIRST_WAIT, attempt - 1)) * (1 + self.chance() / 2)
                wait = max(failed.retry_after or 0.0, backoff)
                if attempt >= self.attempts or self.now() + wait >= deadline:
                    raise
            await self.sleep(wait)
            attempt += 1
            attempted = replace(request, timeout=deadline - self.now())


@dataclass(frozen=True, slots=True)
class GivenTurns:
    """`ports.resources.ChatHistory`: the turns that came with a question. Nothing of the answer is kept."""

    turns: Sequence[Turn]

    async def load(self, instance_id: int, session_id: str, request_id: str) -> Sequence[Turn]:
        return self.turns

    async def append(
        self,
        instance_id: int,
        session_id: str,
        request_id: str,
        turns: Sequence[Turn],
        inbox_id: int | None = None,
    ) -> None:
        return


FindAgent = Callable[[Resource, str], Awaitable[Downstream | None]]
"""Gives what runs the stored agent behind a resource id, for an instance of that owner."""

log = logging.getLogger(__name__)


class Unconnected:
    """Answers for an id behind which nothing runs, or nothing that the owner of the instance may use."""

    async def run(self, request: RunRequest) -> RunResult:
        text = f"No resource is connected to {request.resource}, so nobody can answer."
        return RunResult(text, unconnected=True)


@dataclass(slots=True, eq=False)
class Router:
    """Runs each request where its resource lives. An id that nothing is connected to is answered with a plain
    note: trying again would not help the sender. `default` runs what no rule, no agent and no built-in takes."""

    rules: RulesFile
    builtins: Builtins
    default: Downstream | None = None
    find_agent: FindAgent | None = None

    async def run(self, request: RunRequest) -> RunResult:
        runner = self.rules.find(request.resource)
        if runner is None and self.find_agent is not None:
            runner = await self.find_agent(request.resource, request.owner)
        runner = runner or self.builtins.find(request.resource) or self.default
        if runner is None:
            log.warning("nothing is connected to a resource id", extra={"resource": str(request.resource)})
            runner = Unconnected()
        result = await runner.run(request)
        confirmation = result.confirmation
        if confirmation is not None:
            confirmation = replace(confirmation, parameters=_clean(confirmation.parameters))
        elif "\0" not in result.text:
            return result
        return replace(result, text=_clean(result.text), confirmation=confirmation)


def _clean(value: Any) -> Any:
    """The value without NUL characters, which no platform takes and no database stores as text."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, Mapping):
        return {_clean(name): _clean(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class Timed:
    """Gives each run the time that its rule says, in place of the default."""

    inner: Downstream
    seconds: float

    async def run(self, request: RunRequest) -> RunResult:
        if request.timeout != self.seconds:
            request = replace(request, timeout=self.seconds)
        return await self.inner.run(request)


@dataclass(frozen=True, slots=True)
class Priced:
    """Tells what counts the usage of a run by which prices it costs."""

    inner: Downstream
    prices: Prices

    async def run(self, request: RunRequest) -> RunResult:
        request.usage_meter.prices = self.prices
        return await self.inner.run(request)


class Runners(Parts):
    """Builds runners."""

    __slots__ = ()

    def for_target(self, target: Target) -> Self:
        """The same, with the secrets of a target hidden in what comes back."""
        return replace(self, http=without_secrets(self.http, target))

    def build(self, rule: Rule) -> Downstream:
        runner = KINDS[rule.kind].runner(self.for_target(rule.target), rule.target)
        if rule.timeout is not None:
            runner = Timed(runner, rule.timeout)
        return runner if rule.prices is None else Priced(runner, rule.prices)

    def for_url(self, url: str) -> Downstream:
        """What runs everything that no rule and no built-in takes."""
        return self.retry(HttpRunner(self.http, url))

    def for_question(self, model: ChatModel, base: Base, earlier: Sequence[Turn]) -> Downstream:
        """What answers one question from a base: with no other tools, as nobody could confirm their use."""
        knowledge = Knowledge(self.reader, base)
        alone = replace(model, tools=(), mcp_servers=())
        http = self.for_target(alone).http
        return self.retry(ModelRunner(http, GivenTurns(earlier), alone, knowledge))


MOST_SECONDS = 120.0
"""For one question, whatever the rule says."""


@dataclass(frozen=True, slots=True)
class RuleModels:
    """`ports.resources.KnowledgeModels`: the models that rules put behind knowledge bases, for questions over the
    API. `seconds` is the time of rules without one."""

    rules: RulesFile
    runners: Runners
    seconds: float

    async def answer(self, request: RunRequest, base: Base, earlier: Sequence[Turn]) -> RunResult | None:
        rule = self.rules.rule(request.resource)
        if rule is None or not isinstance(rule.target, ChatModel):
            return None
        timed = replace(request, timeout=min(rule.timeout or self.seconds, MOST_SECONDS))
        request.usage_meter.prices = rule.prices
        return await self.runners.for_question(rule.target, base, earlier).run(timed)
