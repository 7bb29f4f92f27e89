"""The rules that say what runs behind which resource ids: TOML, checked to the last key and to the files of
certificates that it names.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import partial
from typing import Any

from adapters.outbound.resources.kinds import KINDS, read_kind
from adapters.outbound.resources.targets import BadRules, Keys, Secrets, Target
from domain.routing.model import Resource
from domain.usage.model import CURRENCY, MAX_PRICE, Prices

MAX_TIMEOUT = 3600

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[=.]")
_TRIPLE = re.compile(r'"""|\'\'\'')


@dataclass(slots=True)
class _Section:
    """The lines from one header to the next; line numbers begin at 1."""

    name: str
    line: int
    keys: dict[str, int] = field(default_factory=dict)


class Lines:
    """The lines of the keys of a document, which the TOML parser of the standard library does not report. Skips text
    inside multi-line strings."""

    def __init__(self, text: str) -> None:
        self._sections = [_Section("", 1)]
        delimiter: str | None = None
        for number, line in enumerate(text.splitlines(), start=1):
            if delimiter is None:
                if header := _HEADER.match(line):
                    name = ".".join(part.strip() for part in header[2].split("."))
                    self._sections.append(_Section(name, number))
                elif key := _KEY.match(line):
                    self._sections[-1].keys.setdefault(key[1], number)
            for quotes in _TRIPLE.findall(line):
                if delimiter is None:
                    delimiter = quotes
                elif delimiter == quotes:
                    delimiter = None

    def top(self, name: str) -> int | None:
        """The line of a key or section at the top of the document."""
        lines = [section.line for section in self._sections if section.name.split(".")[0] == name]
        return self._sections[0].keys.get(name) or (lines[0] if lines else None)

    def rule(self, index: int, key: str, table: tuple[str, int] | None = None) -> int | None:
        """The line of a key of a rule, or of one of its tables, such as the second tool: `("tool", 1)`. That of the
        header if the key is missing."""
        starts = [at for at, section in enumerate(self._sections) if section.name == "rule"]
        if index >= len(starts):
            return self.top("rule")
        end = starts[index + 1] if index + 1 < len(starts) else len(self._sections)
        section, *below = self._sections[starts[index] : end]
        if table is not None:
            name, at = table
            tables = [item for item in below if item.name == f"rule.{name}"]
            section = tables[at] if at < len(tables) else section
        subsection = next((item.line for item in below if item.name == f"{section.name}.{key}"), None)
        return section.keys.get(key) or subsection or section.line


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` is tried on the canonical id, and for expert 0 also on the id without its expert index. `match` and
    `line` are how and where it is written."""

    pattern: re.Pattern[str]
    target: Target
    timeout: float | None = None
    kind: str = ""
    match: str = ""
    line: int = 0
    prices: Prices | None = None

    def matches(self, resource: Resource) -> bool:
        if self.pattern.match(str(resource)):
            return True
        return resource.expert_index == 0 and bool(self.pattern.match(f"{resource.kind}::{resource.id}"))


def named_bases(rules: Sequence[Rule]) -> Iterator[tuple[int, int]]:
    """The knowledge bases that rules name, each with the line of the rule."""
    return ((base_id, rule.line) for rule in rules for base_id in rule.target.bases)


def parse_rules(text: str, secrets: Secrets) -> tuple[Rule, ...]:
    """The rules in their order. Raises `BadRules` for the first fault."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+)", str(error))
        raise BadRules(str(error), int(place[1]) if place else len(text.splitlines())) from None
    lines = Lines(text)
    for key in document:
        if key != "rule":
            raise BadRules(f"{key!r} is not known here; rules are written as [[rule]]", lines.top(key))
    rules = document.get("rule", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise BadRules("rules are written as [[rule]], with two brackets", lines.top("rule"))
    return tuple(_read_rule(Keys(rule, secrets, partial(lines.rule, at))) for at, rule in enumerate(rules))


def rule_of_table(
    table: Mapping[str, Any], secrets: Secrets, place: Callable[..., int | None], unnamed: frozenset[str]
) -> Rule:
    """The rule in one table that stands in no file; `place` is called with the key at fault. Raises `BadRules`, which
    offers none of the `unnamed` keys and kinds."""
    return _read_rule(Keys(table, secrets, place, unnamed))


def _read_rule(keys: Keys) -> Rule:
    pattern = keys.text("match")
    if "::" not in pattern and pattern[0] not in "*?[":
        raise keys.fault("match", "must be a glob over whole ids, such as agent::support-*")
    kind = read_kind(keys)
    timeout, line = keys.number("timeout", 0.1, MAX_TIMEOUT), keys.line("match") or 0
    prices, target = _read_prices(keys), KINDS[kind].target.read(keys)
    rule = Rule(re.compile(translate(pattern)), target, timeout, kind, pattern, line, prices)
    keys.done()
    return rule


def _read_prices(rule: Keys) -> Prices | None:
    """The prices of a million tokens, None for a rule without. Raises `BadRules`."""
    table = rule.value("prices", dict, "written as [rule.prices]")
    if table is None:
        return None
    keys = Keys(table, rule.secrets, partial(rule.line, table=("prices", 0)), rule.unnamed)
    prices = Prices(_read_price(keys, "input"), _read_price(keys, "output"), keys.text("currency"))
    if not CURRENCY.fullmatch(prices.currency):
        raise keys.fault("currency", "must be a code of three letters, such as EUR")
    keys.done()
    return prices


def _read_price(keys: Keys, name: str) -> float:
    """Raises `BadRules`."""
    price = keys.number(name, 0, MAX_PRICE)
    if price is None:
        raise keys.fault(name, "is missing: the price of a million tokens")
    return price
