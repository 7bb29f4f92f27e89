"""Finds what runs behind a resource id: the rules, then the built-ins, then the address for all others."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.downstream.builtin import Builtins
from adapters.outbound.downstream.rules_file import RulesFile
from domain.routing.model import Resource, RunRequest, RunResult
from ports.downstream import Downstream

log = logging.getLogger(__name__)


class Router:
    """Runs each request where its resource lives. An id that nothing is connected to is answered with a plain
    note: trying again would not help the sender."""

    def __init__(self, rules: RulesFile, builtins: Builtins, default: Downstream | None = None) -> None:
        self._rules = rules
        self._builtins = builtins
        self._default = default

    async def run(self, request: RunRequest) -> RunResult:
        runner = self._rules.find(request.resource) or self._builtins.find(request.resource) or self._default
        if runner is None:
            return _nothing_connected(request.resource)
        return _without_nul(await runner.run(request))


def _without_nul(result: RunResult) -> RunResult:
    """The result without NUL characters, which no platform takes and no database stores as text."""
    asked = result.confirmation
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
