"""The rules in force as people read them, without secrets."""

from dataclasses import dataclass, replace

from adapters.outbound.net.urls import safe_url
from adapters.outbound.resources.builtin import is_builtin
from adapters.outbound.resources.rules import Rule
from adapters.outbound.resources.rules_file import RulesFile
from adapters.outbound.resources.stored_agents import StoredAgents
from domain.access.model import Caller
from domain.agents.model import Agent
from domain.routing.model import AGENT, BUILTIN, DEFAULT, RULE, Resource, ResourceRule, ResourceRules

BUILTINS = {
    "agent::echo": "answers with the text it got",
    "agent::kb-*": "answers from the knowledge base with this number",
}


@dataclass(frozen=True, slots=True)
class Directory:
    """`ports.resources.ResourceDirectory`; `default_url` takes what no rule and no built-in takes."""

    file: RulesFile
    agents: StoredAgents
    default_url: str
    default_seconds: float

    async def rules(self) -> ResourceRules:
        file, default = self.file, self._default()
        agents = await self.agents.all()
        rules = [
            *map(self._shown, file.rules),
            *(self._shown_agent(agent, rule) for agent, rule in agents),
            *map(self._builtin, BUILTINS),
            *([default] if default else []),
        ]
        return ResourceRules(tuple(rules), str(file.path or ""), file.read_at, file.fault)

    async def find(self, resource: Resource, caller: Caller) -> ResourceRule | None:
        rule = self.file.rule(resource)
        if rule is not None:
            return self._shown(rule)
        if await self.agents.has(resource):
            stored = await self.agents.rule(resource, caller.user_id)
            return self._shown_agent(*stored) if stored else None
        if is_builtin(resource):
            return self._builtin("agent::echo" if resource.id == "echo" else "agent::kb-*")
        return self._default()

    def _builtin(self, match: str) -> ResourceRule:
        return ResourceRule(BUILTIN, match, "builtin", BUILTINS[match], self.default_seconds)

    def _default(self) -> ResourceRule | None:
        if not self.default_url:
            return None
        return ResourceRule(DEFAULT, "*", "http", safe_url(self.default_url), self.default_seconds)

    def _shown_agent(self, agent: Agent, rule: Rule) -> ResourceRule:
        return replace(self._shown(rule), source=AGENT, agent_id=agent.id, line=0)

    def _shown(self, rule: Rule) -> ResourceRule:
        target, seconds = rule.target, rule.timeout or self.default_seconds
        shown = ResourceRule(RULE, rule.match, rule.kind, target.address, seconds, rule.line)
        return replace(shown, has_token=target.token is not None, **target.details())
