"""The rules file as it is used: read at start, read again on a signal, never half."""

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from adapters.outbound.resources.rules import Rule, parse_rules
from adapters.outbound.resources.targets import BadRules, Secrets
from domain.routing.model import Resource
from ports.resources import Downstream

log = logging.getLogger(__name__)

Build = Callable[[Rule], Downstream]


class RulesFile:
    """The rules of one file, in order; without a path there are none. `read_at` is when they were put in force;
    `fault` what is wrong with the file that was read last."""

    def __init__(self, path: Path | None, secrets: Secrets, build: Build) -> None:
        self.path = path
        self.read_at: datetime | None = None
        self.fault = ""
        self._secrets = secrets
        self._build = build
        self._rules: tuple[tuple[Rule, Downstream], ...] = ()

    def load(self) -> int:
        """Puts the file's rules in force and tells their number. Raises `BadRules`, changing nothing."""
        if self.path is None:
            return 0
        try:
            text = self.path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadRules(f"{self.path} cannot be read: {error}", None) from error
        try:
            rules = parse_rules(text, self._secrets)
            self._rules = tuple((rule, self._build(rule)) for rule in rules)
        except BadRules as error:
            raise BadRules(f"{self.path}: {error}", None) from error
        self.read_at, self.fault = datetime.now(UTC), ""
        return len(self._rules)

    def reload(self) -> str | None:
        """Reads the file again; a bad one leaves the old rules in force. The fault, None when all is well."""
        try:
            count = self.load()
        except BadRules as error:
            log.error("the resource rules stay as they were: %s", error)
            self.fault = str(error)
            return self.fault
        if self.path is not None:
            log.info("the resource rules were read again", extra={"rules": count})
        return None

    @property
    def rules(self) -> Sequence[Rule]:
        return [rule for rule, _ in self._rules]

    def rule(self, resource: Resource) -> Rule | None:
        """The rule that takes a resource."""
        return next((rule for rule, _ in self._rules if rule.matches(resource)), None)

    def find(self, resource: Resource) -> Downstream | None:
        return next((runner for rule, runner in self._rules if rule.matches(resource)), None)
