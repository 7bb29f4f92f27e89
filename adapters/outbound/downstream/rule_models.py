"""The models that rules put behind knowledge bases, for questions that come over the API."""

from collections.abc import Sequence
from dataclasses import replace

from adapters.outbound.downstream.chat_model import ChatModel
from adapters.outbound.downstream.router import Runners
from adapters.outbound.downstream.rules_file import RulesFile
from domain.knowledge.model import Base
from domain.routing.model import RunRequest, RunResult
from ports.resources import Turn

MOST_SECONDS = 120.0
"""For one question, whatever the rule says."""


class RuleModels:
    """`ports.resources.KnowledgeModels`. `seconds` is the time of rules that say none."""

    def __init__(self, rules: RulesFile, runners: Runners, seconds: float) -> None:
        self._rules = rules
        self._runners = runners
        self._seconds = seconds

    async def answer(self, request: RunRequest, base: Base, earlier: Sequence[Turn]) -> RunResult | None:
        rule = self._rules.rule(request.resource)
        if rule is None or not isinstance(rule.target, ChatModel):
            return None
        timed = replace(request, timeout=min(rule.timeout or self._seconds, MOST_SECONDS))
        return await self._runners.for_question(rule.target, base, earlier).run(timed)
