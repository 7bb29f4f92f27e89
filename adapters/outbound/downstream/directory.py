"""The rules in force as people read them, without secrets."""

from collections.abc import Iterator
from dataclasses import replace

from adapters.outbound.downstream.builtin import is_builtin
from adapters.outbound.downstream.rules import BuiltinTarget, GrpcTarget, HttpTarget, Rule
from adapters.outbound.downstream.rules_file import RulesFile
from adapters.outbound.http.redaction import safe_url
from domain.routing.model import BUILTIN, DEFAULT, RULE, Resource, ResourceRule, ResourceRules

BUILTINS = {
    "agent::echo": "answers with the text it got",
    "agent::kb-*": "answers from the knowledge base with this number",
}


class Directory:
    """`ports.resources.ResourceDirectory`; `default_url` takes what no rule and no built-in takes."""

    def __init__(self, file: RulesFile, default_url: str, default_seconds: float) -> None:
        self._file = file
        self._default_url = default_url
        self._default_seconds = default_seconds

    def rules(self) -> ResourceRules:
        file = self._file
        return ResourceRules(tuple(self._all()), str(file.path or ""), file.read_at, file.fault)

    def find(self, resource: Resource) -> ResourceRule | None:
        rule = self._file.rule(resource)
        if rule is not None:
            return self._shown(rule)
        if is_builtin(resource):
            return self._builtin("agent::echo" if resource.id == "echo" else "agent::kb-*")
        return self._default()

    def _all(self) -> Iterator[ResourceRule]:
        yield from map(self._shown, self._file.rules)
        yield from map(self._builtin, BUILTINS)
        if default := self._default():
            yield default

    def _builtin(self, match: str) -> ResourceRule:
        return ResourceRule(BUILTIN, match, "builtin", BUILTINS[match], self._default_seconds)

    def _default(self) -> ResourceRule | None:
        if not self._default_url:
            return None
        return ResourceRule(DEFAULT, "*", "http", safe_url(self._default_url), self._default_seconds)

    def _shown(self, rule: Rule) -> ResourceRule:
        target, where = rule.target, (rule.timeout or self._default_seconds, rule.line)
        if isinstance(target, BuiltinTarget):
            return ResourceRule(RULE, rule.match, "builtin", str(target.resource), *where)
        has_token = target.token is not None
        if isinstance(target, HttpTarget):
            return ResourceRule(RULE, rule.match, "http", safe_url(target.url), *where, has_token=has_token)
        if isinstance(target, GrpcTarget):
            return ResourceRule(RULE, rule.match, "grpc", target.target, *where, has_token=has_token)
        tools, kind = tuple(tool.name for tool in target.tools), "chat-completions"
        address = safe_url(target.url)
        rule_of_model = ResourceRule(RULE, rule.match, kind, address, *where, target.model, tools, has_token)
        return replace(rule_of_model, knowledge=target.knowledge)
