"""The rules that say what runs behind which resource ids: TOML, checked to the last key and to the files of
certificates that it names.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import translate
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from adapters.outbound.net.tls import BadCertificate, ClientTls, PemSetting, TlsFiles, WatchedFiles
from adapters.outbound.resources.ag_ui_agent import AgUiAgent
from adapters.outbound.resources.builtin import is_builtin, knowledge_base_of
from adapters.outbound.resources.chat_model import CHAT_COMPLETIONS, RESPONSES, ChatModel, ChatTool, McpServer
from adapters.outbound.resources.dify import DIFY, DifyTarget
from adapters.outbound.resources.flowise import FLOWISE, FlowiseTarget
from adapters.outbound.resources.knowledge_tool import SEARCH
from adapters.outbound.resources.langgraph_server import LangGraphAgent
from adapters.outbound.resources.presets import PRESETS
from domain.refusals import Invalid
from domain.routing.model import Resource
from domain.routing.resource import parse_resource

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


KEYS = ("ca_file", "cert_file", "key_file", "server_name")


@dataclass(frozen=True, slots=True)
class RuleTls:
    """`server_name`: the name that the resource's certificate must have; empty: that of the target."""

    files: TlsFiles
    server_name: str = ""

    def watched(self) -> ClientTls:
        """Raises `BadCertificate`."""
        return ClientTls(WatchedFiles(self.files, lambda: datetime.now(UTC)), self.server_name)


def _file(name: str, path: str | None) -> PemSetting | None:
    return PemSetting(name, Path(path).expanduser()) if path else None


Secrets = Callable[[str], str | None]
"""The value of an environment variable that a rule names."""

MAX_TIMEOUT = 3600
_KINDS = ("builtin", "http", "grpc", CHAT_COMPLETIONS, RESPONSES, "langgraph", "ag-ui", "a2a", DIFY, FLOWISE)
MAX_TABLE = 16_000
MAX_BASES = 20
MAX_TOOLS = 128
MAX_SERVERS = 16
MAX_HEADERS = 32
_SOME_BASES = f"1 to {MAX_BASES} ids of knowledge bases, such as [3, 7]"


class BadRules(ValueError):
    """A rules file that cannot be used; the message names the line. `key` is the key at fault and `what` is wrong
    with it, where a key is to blame."""

    def __init__(self, message: str, line: int | None, key: str = "", what: str = "") -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line, self.key, self.what = line, key, what


@dataclass(frozen=True, slots=True)
class BuiltinTarget:
    """A built-in resource under another id."""

    resource: Resource


@dataclass(frozen=True, slots=True)
class HttpTarget:
    url: str
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class GrpcTarget:
    target: str
    tls: RuleTls | None = None
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class A2aTarget:
    """An agent that speaks A2A. `url` is its base address, or that of its agent card. `stream`: None does as the card
    says."""

    url: str
    stream: bool | None = None
    token: str | None = field(default=None, repr=False)


Target = (
    BuiltinTarget
    | HttpTarget
    | GrpcTarget
    | ChatModel
    | LangGraphAgent
    | AgUiAgent
    | A2aTarget
    | DifyTarget
    | FlowiseTarget
)


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` is tried on the canonical id, and for expert 0 also on the id without its expert index. `match` and
    `line` are how and where it is written."""

    pattern: re.Pattern[str]
    target: Target
    timeout: float | None = None
    match: str = ""
    line: int = 0

    def matches(self, resource: Resource) -> bool:
        if self.pattern.match(str(resource)):
            return True
        return resource.expert_index == 0 and bool(self.pattern.match(f"{resource.kind}::{resource.id}"))


def named_bases(rules: Sequence[Rule]) -> Iterator[tuple[int, int]]:
    """The knowledge bases that rules name, each with the line of the rule."""
    for rule in rules:
        if isinstance(rule.target, ChatModel):
            yield from ((base_id, rule.line) for base_id in rule.target.knowledge)
        elif isinstance(rule.target, BuiltinTarget) and (base_id := knowledge_base_of(rule.target.resource)):
            yield base_id, rule.line


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
    return tuple(_Reader(rule, secrets, partial(lines.rule, at)).rule() for at, rule in enumerate(rules))


def rule_of_table(table: Mapping[str, Any], secrets: Secrets, place: Callable[..., int | None]) -> Rule:
    """The rule in one table that stands in no file; `place` is called with the key at fault. Raises `BadRules`."""
    return _Reader(table, secrets, place).rule()


@dataclass(eq=False, slots=True)
class _Reader:
    """Reads one table, key by key, and names the line of a fault."""

    table: Mapping[str, Any]
    secrets: Secrets
    line: Callable[..., int | None]
    known: set[str] = field(default_factory=set)

    def rule(self) -> Rule:
        pattern = self.text("match")
        if "::" not in pattern and pattern[0] not in "*?[":
            raise self.fault("match", "must be a glob over whole ids, such as agent::support-*")
        kind = self.kind()
        timeout, line = self.number("timeout", 0.1, MAX_TIMEOUT), self.line("match") or 0
        rule = Rule(re.compile(translate(pattern)), self.target(kind), timeout, pattern, line)
        self.done()
        return rule

    def kind(self) -> str:
        """The kind, and from here on the keys of the preset that the table does not have itself."""
        name = self.value("preset", str, "the name of a preset")
        preset = PRESETS.get(name) if name is not None else None
        if name is not None and preset is None:
            raise self.fault("preset", f"must be one of {', '.join(PRESETS)}")
        if preset:
            self.table = {**preset.defaults(), **self.table}
        kind = self.text("kind")
        if preset and kind not in preset.kinds:
            raise self.fault("kind", f"must be {' or '.join(preset.kinds)} with the preset {name}")
        if kind not in _KINDS:
            raise self.fault("kind", f"must be one of {', '.join(_KINDS)}")
        return kind

    def target(self, kind: str) -> Target:
        match kind:
            case "builtin":
                return self.builtin()
            case "http":
                return HttpTarget(self.url("url"), self.token())
            case "grpc":
                target = self.text("target")
                if any(character.isspace() for character in target) or "://" in target:
                    raise self.fault("target", "must be a gRPC target such as runner.internal:50052")
                return GrpcTarget(target, self.tls(), self.token())
            case "langgraph":
                return self.langgraph()
            case "ag-ui":
                return AgUiAgent(self.url("url"), self.flag("images", default=False), self.token())
            case "a2a":
                stream = self.value("stream", bool, "true or false")
                return A2aTarget(self.url("url"), stream, self.token())
            case "dify":
                files = self.flag("files", default=False)
                return DifyTarget(self.url("url"), self.json_table("inputs"), files, self.token())
            case "flowise":
                return FlowiseTarget(self.url("url"), self.token())
        return self.model(kind)

    def builtin(self) -> BuiltinTarget:
        try:
            resource = parse_resource(self.text("use"))
        except Invalid:
            resource = None
        if resource is None or not is_builtin(resource):
            raise self.fault("use", "must name a built-in, agent::echo or agent::kb-<number>")
        return BuiltinTarget(resource)

    def model(self, kind: str) -> ChatModel:
        tokens = self.integer("history_tokens", 0, 1_000_000)
        tools = self.tools()
        return ChatModel(
            url=self.url("url"),
            model=self.text("model"),
            system=self.text("system", ""),
            history_tokens=4000 if tokens is None else tokens,
            stream=self.flag("stream", default=False),
            temperature=self.number("temperature", 0, 2),
            max_tokens=self.integer("max_tokens", 1, 1_000_000),
            tools=tools,
            knowledge=self.knowledge(tools),
            token=self.token(),
            kind=kind,
            mcp_servers=self.mcp_servers(),
            approvals=self.globs("approvals"),
        )

    def langgraph(self) -> LangGraphAgent:
        return LangGraphAgent(
            url=self.url("url"),
            assistant=self.text("assistant"),
            stream=self.flag("stream", default=False),
            images=self.flag("images", default=False),
            bearer=self.flag("bearer", default=False),
            token=self.token(),
        )

    def fault(self, key: str, what: str) -> BadRules:
        return BadRules(f"{key} {what}", self.line(key), key, what)

    def done(self) -> None:
        for key in self.table:
            if key not in self.known:
                known = ", ".join(sorted(self.known))
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
        try:
            usable = urlsplit(url).scheme in ("http", "https") and bool(urlsplit(url).hostname)
        except ValueError:
            usable = False
        if not usable or any(character.isspace() for character in url):
            raise self.fault(key, "must be an http or https address")
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

    def tls(self) -> RuleTls | None:
        is_on = self.flag("tls", default=False)
        texts = {key: self.text(key, "") for key in KEYS}
        if not is_on:
            for key, text in texts.items():
                if text:
                    raise self.fault(key, "is of no use without tls = true")
            return None
        for key, other in (("cert_file", "key_file"), ("key_file", "cert_file")):
            if texts[key] and not texts[other]:
                raise self.fault(key, f"is of no use without {other}")
        own, own_key = _file("cert_file", texts["cert_file"]), _file("key_file", texts["key_file"])
        authorities = _file("ca_file", texts["ca_file"]) or _file(
            "SSL_CERT_FILE", self.secrets("SSL_CERT_FILE")
        )
        tls = RuleTls(TlsFiles(own, own_key, authorities), texts["server_name"])
        try:
            tls.watched()
        except BadCertificate as error:
            raise BadRules(str(error), self.line(str(error).partition(":")[0])) from None
        return tls

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

    def knowledge(self, tools: Sequence[ChatTool]) -> tuple[int, ...]:
        """The ids of knowledge bases."""
        ids = self.value("knowledge", list, f"a list of {_SOME_BASES}")
        if ids is None:
            return ()
        are_ids = all(isinstance(id, int) and not isinstance(id, bool) and 0 < id < 2**31 for id in ids)
        if not are_ids or not 0 < len(ids) <= MAX_BASES:
            raise self.fault("knowledge", f"must be a list of {_SOME_BASES}")
        if len(set(ids)) < len(ids):
            raise self.fault("knowledge", "names a knowledge base twice")
        if any(tool.name == SEARCH for tool in tools):
            raise self.fault("knowledge", f"brings a tool of the name {SEARCH}; call your own tool otherwise")
        return tuple(ids)

    def tables(self, key: str, most: int) -> Iterator["_Reader"]:
        """A reader for each table of a list of tables."""
        tables = self.value(key, list, f"written as [[rule.{key}]]") or []
        if len(tables) > most:
            raise self.fault(key, f"must be at most {most} tables")
        for at, table in enumerate(tables):
            if not isinstance(table, dict):
                raise self.fault(key, f"must be written as [[rule.{key}]]")
            yield _Reader(table, self.secrets, partial(self.line, table=(key, at)))

    def tools(self) -> tuple[ChatTool, ...]:
        tools: list[ChatTool] = []
        for reader in self.tables("tool", MAX_TOOLS):
            tools.append(reader.tool({tool.name for tool in tools}))
        return tuple(tools)

    def mcp_servers(self) -> tuple[McpServer, ...]:
        servers: list[McpServer] = []
        for reader in self.tables("mcp_server", MAX_SERVERS):
            servers.append(reader.mcp_server({server.name for server in servers}))
        return tuple(servers)

    def mcp_server(self, taken: set[str]) -> McpServer:
        name = self.text("name")
        if not re.fullmatch(r"[A-Za-z0-9-]{1,32}", name):
            raise self.fault("name", "must be up to 32 letters, digits or hyphens")
        if name in taken:
            raise self.fault("name", f"repeats {name}")
        confirm: bool | tuple[str, ...]
        if isinstance(self.table.get("confirm"), list):
            confirm = self.globs("confirm")
        else:
            confirm = self.flag("confirm", default=True)
        server = McpServer(name, self.url("url"), self.headers(), self.globs("tools"), confirm, self.token())
        if server.token and any(header.lower() == "authorization" for header in server.headers):
            raise self.fault("headers", "must not have Authorization beside token_env")
        self.done()
        return server

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

    def tool(self, taken: set[str]) -> ChatTool:
        name = self.text("name")
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
            raise self.fault("name", "must be up to 64 letters, digits, underscores or hyphens")
        if name in taken:
            raise self.fault("name", f"repeats {name}")
        parameters = self.value("parameters", dict, "a table with a JSON Schema")
        tool = ChatTool(
            name=name,
            url=self.url("url"),
            description=self.text("description", ""),
            parameters=parameters or {"type": "object", "properties": {}},
            confirm=self.flag("confirm", default=True),
            token=self.token(),
        )
        self.done()
        return tool
