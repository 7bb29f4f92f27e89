"""What a rule says stands behind its ids, and how its keys are read."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from adapters.outbound.net.urls import safe_url
from domain.addresses import address_fault

Secrets = Callable[[str], str | None]
"""The value of an environment variable that a rule names."""

MAX_TABLE = 16_000
MAX_TOOLS = 128
MAX_HEADERS = 32


class BadRules(ValueError):
    """A rules file that cannot be used; the message names the line. `key` is the key at fault and `what` is wrong
    with it, where a key is to blame."""

    def __init__(self, message: str, line: int | None, key: str = "", what: str = "") -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line, self.key, self.what = line, key, what


@dataclass(eq=False, slots=True)
class Keys:
    """Reads a table, and names the line of a fault. Faults do not offer the `unnamed` keys and kinds."""

    table: Mapping[str, Any]
    secrets: Secrets
    line: Callable[..., int | None]
    unnamed: frozenset[str] = frozenset()
    known: set[str] = field(default_factory=set)

    def fault(self, key: str, what: str) -> BadRules:
        return BadRules(f"{key} {what}", self.line(key), key, what)

    def done(self) -> None:
        for key in self.table:
            if key not in self.known:
                known = ", ".join(sorted(self.known - self.unnamed))
                raise self.fault(key, f"is not known here; known are {known}")

    def value(self, key: str, types: type | tuple[type, ...], what: str) -> Any:
        """The value of an optional key, None without it."""
        self.known.add(key)
        value = self.table.get(key)
        wrong_bool = isinstance(value, bool) and types is not bool
        if value is not None and (wrong_bool or not isinstance(value, types)):
            raise self.fault(key, f"must be {what}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        text = self.value(key, str, "a text")
        if text is None and default is None:
            raise self.fault(key, "is missing")
        if text is not None and not text.strip():
            raise self.fault(key, "is empty")
        return text if text is not None else default or ""

    def url(self, key: str) -> str:
        url = self.text(key)
        if fault := address_fault(url):
            raise self.fault(key, fault)
        return url

    def json_table(self, key: str) -> dict[str, Any]:
        """A table of JSON values of any kind; TOML has dates besides."""
        table = self.value(key, dict, "a table of values") or {}
        try:
            is_small = len(json.dumps(table)) <= MAX_TABLE
        except (TypeError, ValueError, RecursionError):
            raise self.fault(key, "must hold values of JSON alone, no dates or times") from None
        if not is_small:
            raise self.fault(key, f"must have at most {MAX_TABLE} characters as JSON")
        return dict(table)

    def flag(self, key: str, default: bool) -> bool:
        flag = self.value(key, bool, "true or false")
        return default if flag is None else bool(flag)

    def number(self, key: str, low: float, high: float) -> float | None:
        number: float | None = self.value(key, (int, float), "a number")
        if number is not None and not low <= number <= high:
            raise self.fault(key, f"must be from {low:g} to {high:g}")
        return number

    def integer(self, key: str, low: int, high: int) -> int | None:
        number: int | None = self.value(key, int, "a whole number")
        if number is not None and not low <= number <= high:
            raise self.fault(key, f"must be from {low} to {high}")
        return number

    def token(self) -> str | None:
        """The secret in the environment variable that `token_env` names."""
        name = self.value("token_env", str, "the name of an environment variable")
        if name is None:
            return None
        secret = (self.secrets(name) or "").strip()
        if not secret:
            raise self.fault("token_env", f"names the environment variable {name}, which is not set")
        if not secret.isascii() or not secret.isprintable():
            raise self.fault("token_env", f"names {name}, whose value cannot stand in a header")
        return secret

    def tables(self, key: str, most: int) -> Iterator["Keys"]:
        """A reader for each table of a list of tables."""
        tables = self.value(key, list, f"written as [[rule.{key}]]") or []
        if len(tables) > most:
            raise self.fault(key, f"must be at most {most} tables")
        for at, table in enumerate(tables):
            if not isinstance(table, dict):
                raise self.fault(key, f"must be written as [[rule.{key}]]")
            yield Keys(table, self.secrets, partial(self.line, table=(key, at)), self.unnamed)

    def globs(self, key: str) -> tuple[str, ...]:
        globs = self.value(key, list, "a list of globs over names of tools")
        if globs is None:
            return ()
        are_globs = all(isinstance(glob, str) and 0 < len(glob) <= 256 for glob in globs)
        if not are_globs or not 0 < len(globs) <= MAX_TOOLS:
            raise self.fault(key, f"must be a list of 1 to {MAX_TOOLS} globs over names of tools")
        return tuple(globs)

    def headers(self) -> dict[str, str]:
        """Fixed headers, which may hold secrets: a fault does not show their values."""
        headers = self.value("headers", dict, "a table of headers") or {}
        are_texts = all(isinstance(value, str) for value in headers.values())
        if not are_texts or len(headers) > MAX_HEADERS:
            raise self.fault("headers", f"must be up to {MAX_HEADERS} headers, each with a text")
        for name, value in headers.items():
            if not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}", name):
                raise self.fault("headers", f"has {name[:40]!r}, which is not the name of a header")
            if not value.isascii() or not value.isprintable() or len(value) > 4096:
                raise self.fault("headers", f"has {name} with a value that cannot stand in a header")
        return headers


class Target(ABC):
    """The settings of one rule, as a frozen dataclass. `url`: that of kinds that are called by HTTP; `token`: the
    secret that it is called with."""

    __slots__ = ()
    url: str
    token: str | None

    @classmethod
    @abstractmethod
    def read(cls, keys: Keys) -> Self:
        """Reads the keys of the kind. Raises `BadRules`."""

    @property
    def address(self) -> str:
        """Where it is, without secrets."""
        return safe_url(self.url)

    @property
    def bases(self) -> tuple[int, ...]:
        """The knowledge bases that it names."""
        return ()

    def details(self) -> Mapping[str, Any]:
        """What else people see of the rule: fields of `domain.routing.model.ResourceRule`."""
        return {}
