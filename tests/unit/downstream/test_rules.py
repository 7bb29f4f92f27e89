"""The rules file: what it may say, and how its faults are told."""

import re
from pathlib import Path

import pytest

from adapters.outbound.net.tls import TlsFiles
from adapters.outbound.resources.a2a.target import A2aTarget
from adapters.outbound.resources.ag_ui_agent import AgUiAgent
from adapters.outbound.resources.builtin import BuiltinTarget
from adapters.outbound.resources.dify import DifyTarget
from adapters.outbound.resources.flowise import FlowiseTarget
from adapters.outbound.resources.grpc_runner import GrpcTarget, RuleTls
from adapters.outbound.resources.http_runner import HttpTarget
from adapters.outbound.resources.kinds import PRESETS
from adapters.outbound.resources.langgraph_server import LangGraphAgent
from adapters.outbound.resources.model_settings import ChatModel, McpServer
from adapters.outbound.resources.rules import Rule, named_bases, parse_rules
from adapters.outbound.resources.rules_file import RulesFile
from adapters.outbound.resources.targets import BadRules
from domain.routing.model import RunResult
from domain.routing.resource import parse_resource
from ports.resources import Downstream
from tests.support.runs import ScriptedRunner

SECRETS = {"TOKEN": " s3cret \n", "EMPTY": "", "BROKEN": "a\nb"}

WHOLE = """
# Everything that a rule can say.
[[rule]]
match = "agent::helpdesk"
kind = "builtin"
use = "agent::kb-12"

[[rule]]
match = "workflow::*"
kind = "http"
url = "https://runner.example/run"
token_env = "TOKEN"
timeout = 30

[[rule]]
match = "agent::fast-*"
kind = "grpc"
target = "runner.internal:50052"
tls = true

[[rule]]
match = "agent::*"
kind = "chat-completions"
url = "https://llm.example/v1"
model = "small"
system = '''
Answer shortly.
[[rule]]
kind = "not a key"
'''
stream = true
temperature = 0.5
token_env = "TOKEN"

[[rule.tool]]
name = "send_mail"
url = "https://tools.example/mail"
description = "Sends a mail."

[rule.tool.parameters]
type = "object"

[[rule.tool]]
name = "search"
url = "https://tools.example/search"
confirm = false
"""


WHOLE += """
[[rule]]
match = "agent::graph"
kind = "langgraph"
url = "https://graph.example"
assistant = "helper"
stream = true
images = true
bearer = true
token_env = "TOKEN"

[[rule]]
match = "agent::screen"
kind = "ag-ui"
url = "https://screen.example/agent"
images = true
token_env = "TOKEN"

[[rule]]
match = "agent::clerk"
kind = "a2a"
url = "https://clerk.example"
stream = false
token_env = "TOKEN"
"""


GOOD = '[[rule]]\nmatch = "agent::a"\nkind = "http"\nurl = "http://x.example"\n'
CHAT = '[[rule]]\nmatch = "*"\nkind = "chat-completions"\nurl = "http://x.example"\nmodel = "m"\n'


def rules_of(text: str) -> tuple[Rule, ...]:
    return parse_rules(text, SECRETS.get)


def test_each_kind_is_read() -> None:
    builtin, http, grpc, chat, graph, screen, clerk = rules_of(WHOLE)

    assert builtin.target == BuiltinTarget(parse_resource("agent::kb-12"))
    assert http.target == HttpTarget("https://runner.example/run", "s3cret")
    assert http.timeout == 30
    assert grpc.target == GrpcTarget("runner.internal:50052", RuleTls(TlsFiles()), None)
    assert isinstance(chat.target, ChatModel)
    assert chat.target.system.startswith("Answer shortly.")
    assert chat.target.history_tokens == 4000
    assert [(tool.name, tool.confirm) for tool in chat.target.tools] == [
        ("send_mail", True),
        ("search", False),
    ]
    assert chat.target.tools[0].parameters == {"type": "object"}
    assert graph.target == LangGraphAgent(
        "https://graph.example", "helper", stream=True, images=True, bearer=True, token="s3cret"
    )
    assert screen.target == AgUiAgent("https://screen.example/agent", images=True, token="s3cret")
    assert clerk.target == A2aTarget("https://clerk.example", stream=False, token="s3cret")
    assert "s3cret" not in repr((graph.target, screen.target, clerk.target))


@pytest.mark.parametrize("kind", ["chat-completions", "responses"])
def test_models_of_both_protocols_have_the_same_keys(kind: str) -> None:
    (rule,) = rules_of(CHAT.replace("chat-completions", kind) + 'stream = true\ntoken_env = "TOKEN"\n')

    assert rule.target == ChatModel("http://x.example", "m", stream=True, token="s3cret", kind=kind)
    assert "s3cret" not in repr(rule)


MCP = CHAT + '[[rule.mcp_server]]\nname = "files"\nurl = "https://mcp.example/mcp"\n'


def test_mcp_servers_are_read() -> None:
    text = (
        MCP
        + """token_env = "TOKEN"
confirm = ["delete_*"]
tools = ["read_*", "delete_*"]
headers = { X-Team = "support" }

[[rule.mcp_server]]
name = "web"
url = "https://web.example/mcp"
confirm = false
"""
    )
    (rule,) = rules_of(text)

    assert isinstance(rule.target, ChatModel)
    assert rule.target.mcp_servers == (
        McpServer(
            "files",
            "https://mcp.example/mcp",
            {"X-Team": "support"},
            ("read_*", "delete_*"),
            ("delete_*",),
            "s3cret",
        ),
        McpServer("web", "https://web.example/mcp", confirm=False),
    )
    assert "s3cret" not in repr(rule)
    assert "support" not in repr(rule)


def test_a_decision_is_asked_for_unless_the_rule_says_otherwise() -> None:
    (rule,) = rules_of(MCP)

    assert isinstance(rule.target, ChatModel)
    assert rule.target.mcp_servers[0].confirm is True


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (CHAT + "mcp_server = 7\n", 6, "mcp_server must be written as"),
        (CHAT + "mcp_server = [7]\n", 6, "mcp_server must be written as"),
        (CHAT + "[[rule.mcp_server]]\nurl = 'https://x.example'\n", 6, "name is missing"),
        (CHAT + "[[rule.mcp_server]]\nname = 'a_b'\n", 7, "name must be up to 32 letters"),
        (MCP + MCP.removeprefix(CHAT), 10, "name repeats files"),
        (MCP + "tools = 'all'\n", 9, "tools must be a list of globs"),
        (MCP + "tools = []\n", 9, "tools must be a list of 1 to"),
        (MCP + "tools = [7]\n", 9, "tools must be a list of 1 to"),
        (MCP + "confirm = 'yes'\n", 9, "confirm must be true or false"),
        (MCP + "confirm = [7]\n", 9, "confirm must be a list of 1 to"),
        (MCP + "headers = { 'a b' = 'c' }\n", 9, "headers has 'a b', which is not the name of a header"),
        (MCP + "headers = { a = 7 }\n", 9, "headers must be up to 32 headers, each with a text"),
        (MCP + 'headers = { a = "s3cret\\n" }\n', 9, "headers has a with a value that cannot stand"),
        (MCP + "token_env = 'TOKEN'\nheaders = { Authorization = 'x' }\n", 10, "must not have Authorization"),
        (MCP + "stream = true\n", 9, "stream is not known here"),
        (
            CHAT + "".join(f"[[rule.mcp_server]]\nname='a{at}'\nurl='http://x'\n" for at in range(17)),
            6,
            "mcp_server must be at most 16 tables",
        ),
    ],
)
def test_a_fault_of_an_mcp_server_is_named_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(BadRules) as caught:
        rules_of(text)

    assert what in str(caught.value)
    assert caught.value.line == line
    assert "s3cret" not in str(caught.value)


MODELS = ("openai", "anthropic", "google", "ollama", "vllm", "litellm")


@pytest.mark.parametrize("name", MODELS)
def test_a_preset_of_a_model_needs_no_more_than_its_name(name: str) -> None:
    (rule,) = rules_of(f'[[rule]]\nmatch = "*"\npreset = "{name}"\nmodel = "m"\n')

    preset = PRESETS[name]
    assert rule.target == ChatModel(preset.url, "m", stream=True, kind=preset.kinds[0])


def test_keys_of_the_rule_come_before_those_of_its_preset() -> None:
    keys = 'kind = "chat-completions"\nurl = "https://gate.example/v1"\nstream = false\nmodel = "m"\n'
    (rule,) = rules_of(f'[[rule]]\nmatch = "*"\npreset = "openai"\n{keys}')

    assert rule.target == ChatModel("https://gate.example/v1", "m")


def test_presets_of_services_have_kinds_of_their_own() -> None:
    dify, n8n, flowise = rules_of("""
[[rule]]
match = "agent::a"
preset = "dify"
token_env = "TOKEN"
files = true
inputs = { tier = "gold", limits = [1, 2] }

[[rule]]
match = "agent::b"
preset = "n8n"
url = "https://n8n.example/webhook/agent"

[[rule]]
match = "agent::c"
preset = "flowise"
url = "https://flowise.example/api/v1/prediction/1"
""")

    inputs = {"tier": "gold", "limits": [1, 2]}
    assert dify.target == DifyTarget("https://api.dify.ai/v1", inputs, files=True, token="s3cret")
    assert n8n.target == HttpTarget("https://n8n.example/webhook/agent")
    assert flowise.target == FlowiseTarget("https://flowise.example/api/v1/prediction/1")
    assert "s3cret" not in repr(dify)


@pytest.mark.parametrize(
    ("keys", "line", "what"),
    [
        ("preset = 'grok'\n", 3, "preset must be one of openai, anthropic"),
        ("preset = 7\n", 3, "preset must be the name of a preset"),
        ("preset = 'openai'\n", 1, "model is missing"),
        ("preset = 'n8n'\n", 1, "url is missing"),
        ("preset = 'flowise'\n", 1, "url is missing"),
        (
            "preset = 'anthropic'\nkind = 'responses'\nmodel = 'm'\n",
            4,
            "kind must be chat-completions with the preset anthropic",
        ),
        ("preset = 'dify'\nmodel = 'm'\n", 4, "model is not known here"),
        ("preset = 'dify'\ninputs = 'gold'\n", 4, "inputs must be a table of values"),
        ("preset = 'dify'\ninputs = { day = 2026-01-01 }\n", 4, "inputs must hold values of JSON alone"),
        ("preset = 'dify'\ninputs = { a = '" + "x" * 16_000 + "' }\n", 4, "inputs must have at most"),
    ],
)
def test_a_fault_of_a_preset_is_named_with_its_line(keys: str, line: int, what: str) -> None:
    with pytest.raises(BadRules) as caught:
        rules_of(f"[[rule]]\nmatch = '*'\n{keys}")

    assert what in str(caught.value)
    assert caught.value.line == line


def test_the_rules_of_the_page_can_be_used() -> None:
    page = Path("docs/resources.md").read_text("utf-8")
    rules = [
        rule
        for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
        if block.startswith("[[rule]]")
        for rule in parse_rules(block, lambda _: "s3cret")
    ]

    assert {f"agent::{name}" for name in PRESETS} <= {rule.match for rule in rules}


def test_an_empty_file_has_no_rules() -> None:
    assert rules_of("# nothing yet\n") == ()


@pytest.mark.parametrize(
    ("pattern", "resource", "matches"),
    [
        ("agent::support-*", "agent::support-1_0", True),
        ("agent::support-*", "agent::support-1_3", True),
        ("agent::support-*", "support-1", True),
        ("agent::support-*", "app::support-1", False),
        ("agent::helper", "agent::helper", True),
        ("agent::helper", "agent::helper_0", True),
        ("agent::helper", "agent::helper_1", False),
        ("agent::helper_0", "agent::helper", True),
        ("agent::helper_1", "agent::helper_1", True),
        ("agent::Helper", "agent::helper", False),
        ("agent::h?lper_[12]", "agent::helper_2", True),
        ("workflow::w", "workflow::w", True),
        ("workflow::w", "workflow::w_0", False),
        ("*", "function::anything", True),
        ("*::x.y", "function::xzy", False),
    ],
)
def test_a_glob_is_tried_on_the_canonical_id(pattern: str, resource: str, matches: bool) -> None:
    (rule,) = rules_of(f'[[rule]]\nmatch = "{pattern}"\nkind = "http"\nurl = "http://x.example"')

    assert rule.matches(parse_resource(resource)) is matches


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (GOOD + "\n[[rule]\n", 6, "TOML|Expected"),
        (GOOD + 'text = "open\n', 5, "Illegal|newline|Unterminated|character"),
        (GOOD + 'match = "agent::b"\n', 5, "overwrite"),
        (GOOD + "[[rules]]\n", 5, "'rules' is not known"),
        ("title = 'x'\n" + GOOD, 1, "'title' is not known"),
        ('[rule]\nmatch = "*"\n', 1, "two brackets"),
        ("\nrule = 7\n", 2, "two brackets"),
        (GOOD + "[[rule]]\nkind = 'http'\n", 5, "match is missing"),
        (GOOD + "[[rule]]\nmatch = ''\nkind = 'http'\n", 6, "match is empty"),
        (GOOD + "[[rule]]\nmatch = 'helper'\nkind = 'http'\n", 6, "match must be a glob over whole ids"),
        (GOOD + "[[rule]]\nmatch = 7\nkind = 'http'\n", 6, "match must be a text"),
        (GOOD + "[[rule]]\nmatch = '*'\n\n", 5, "kind is missing"),
        (GOOD + "[[rule]]\nmatch = '*'\n\nkind = 'smtp'\n", 8, "kind must be one of builtin, http, grpc"),
        ("[[rule]]\nmatch = '*'\nkind = 'http'\n", 1, "url is missing"),
        ("[[rule]]\nmatch = '*'\nkind = 'http'\nurl = 'ftp://x'\n", 4, "url must be an address"),
        ("[[rule]]\nmatch = '*'\nkind = 'http'\nurl = 'http://'\n", 4, "url must be an address"),
        ("[[rule]]\nmatch = '*'\nkind = 'http'\nurl = 'http://[x'\n", 4, "url must be an address"),
        (
            GOOD + "model = 'x'\n",
            5,
            "model is not known here; known are kind, match, preset, prices, timeout, token_env, url",
        ),
        (GOOD + "prices = 7\n", 5, r"prices must be written as \[rule.prices\]"),
        (GOOD + "[rule.prices]\ninput = 1\ncurrency = 'EUR'\n", 5, "output is missing: the price"),
        (GOOD + "[rule.prices]\ninput = -1\noutput = 1\ncurrency = 'EUR'\n", 6, "input must be from 0"),
        (GOOD + "[rule.prices]\ninput = 1\noutput = 1\ncurrency = 'euro'\n", 8, "currency must be a code"),
        (
            GOOD + "[rule.prices]\ninput = 1\noutput = 1\ncurrency = 'EUR'\nper = 7\n",
            9,
            "per is not known here; known are currency, input, output",
        ),
        (GOOD + "timeout = 0\n", 5, "timeout must be from"),
        (GOOD + "timeout = 3601\n", 5, "timeout must be from"),
        (GOOD + "timeout = true\n", 5, "timeout must be a number"),
        (GOOD + "timeout = nan\n", 5, "timeout must be from"),
        (GOOD + "token_env = 'MISSING'\n", 5, "MISSING, which is not set"),
        (GOOD + "token_env = 'EMPTY'\n", 5, "EMPTY, which is not set"),
        (GOOD + "token_env = 'BROKEN'\n", 5, "BROKEN, whose value cannot stand in a header"),
        ("[[rule]]\nmatch = '*'\nkind = 'builtin'\nuse = 'agent::other'\n", 4, "use must name a built-in"),
        ("[[rule]]\nmatch = '*'\nkind = 'builtin'\nuse = 'agent::a::b'\n", 4, "use must name a built-in"),
        ("[[rule]]\nmatch = '*'\nkind = 'langgraph'\nurl = 'http://x'\n", 1, "assistant is missing"),
        (
            "[[rule]]\nmatch = '*'\nkind = 'a2a'\nurl = 'http://x'\nstream = 1\n",
            5,
            "stream must be true or false",
        ),
        ("[[rule]]\nmatch = '*'\nkind = 'grpc'\ntarget = 'http://x:1'\n", 4, "target must be a gRPC target"),
        ("[[rule]]\nmatch = '*'\nkind = 'grpc'\ntarget = 'x:1'\ntls = 1\n", 5, "tls must be true or false"),
        (
            "[[rule]]\nmatch = '*'\nkind = 'grpc'\ntarget = 'x:1'\nca_file = '/ca'\n",
            5,
            "ca_file is of no use without tls = true",
        ),
        (
            "[[rule]]\nmatch = '*'\nkind = 'grpc'\ntarget = 'x:1'\ntls = true\ncert_file = '/crt'\n",
            6,
            "cert_file is of no use without key_file",
        ),
        (
            "[[rule]]\nmatch = '*'\nkind = 'grpc'\ntarget = 'x:1'\ntls = true\nca_file = '/nowhere/ca'\n",
            6,
            "ca_file: /nowhere/ca cannot be read: No such file or directory",
        ),
        (CHAT + "history_tokens = 1.5\n", 6, "history_tokens must be a whole number"),
        (CHAT + "history_tokens = -1\n", 6, "history_tokens must be from 0"),
        (CHAT + "temperature = 3\n", 6, "temperature must be from 0 to 2"),
        (CHAT + "max_tokens = 0\n", 6, "max_tokens must be from 1"),
        (CHAT + "tool = 'x'\n", 6, r"tool must be written as \[\[rule.tool\]\]"),
        (CHAT + "[[rule.tool]]\nname = 'a b'\n", 7, "name must be up to 64 letters"),
        (CHAT + "[[rule.tool]]\nname = 'a'\n", 6, "url is missing"),
        (
            CHAT + "[[rule.tool]]\nname = 'a'\nurl = 'http://x.example'\n[[rule.tool]]\nname = 'a'\n",
            10,
            "name repeats a",
        ),
        (
            CHAT + "[[rule.tool]]\nname = 'a'\nurl = 'http://x.example'\nparameters = 'x'\n",
            9,
            "parameters must be a table",
        ),
        (
            CHAT + "[[rule.tool]]\nname = 'a'\nurl = 'http://x.example'\nextra = 'x'\n",
            9,
            "extra is not known here",
        ),
        (
            CHAT + "system = '''\n[[rule]]\nurl = 'x'\n'''\nstream = 'yes'\n",
            10,
            "stream must be true or false",
        ),
    ],
)
def test_a_fault_is_told_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(BadRules, match=what) as caught:
        rules_of(text)

    assert caught.value.line == line
    assert str(caught.value).startswith(f"line {line}: ")


def test_a_secret_is_not_shown() -> None:
    assert "s3cret" not in str(
        [rule.target for rule in rules_of(WHOLE) if isinstance(rule.target, ChatModel)]
    )
    assert "s3cret" not in repr(rules_of(WHOLE))


class TestRulesFile:
    def rules(self, path: Path | None) -> RulesFile:
        return RulesFile(path, SECRETS.get, self.build)

    def build(self, rule: Rule) -> Downstream:
        assert isinstance(rule.target, HttpTarget)
        return ScriptedRunner(RunResult(rule.target.url))

    async def answer(self, rules: RulesFile, resource: str) -> str | None:
        runner = rules.find(parse_resource(resource))
        return (await runner.run(None)).text if runner else None  # type: ignore[arg-type]

    def write(self, path: Path, **urls: str) -> None:
        rules = [
            f'[[rule]]\nmatch = "agent::{name}*"\nkind = "http"\nurl = "{url}"\n'
            for name, url in urls.items()
        ]
        path.write_text("".join(rules), "utf-8")

    async def test_without_a_file_nothing_matches(self) -> None:
        rules = self.rules(None)

        assert rules.load() == 0
        assert rules.find(parse_resource("agent::a")) is None

    async def test_the_first_match_wins(self, tmp_path: Path) -> None:
        path = tmp_path / "resources.toml"
        self.write(path, ab="http://first.example", a="http://second.example")
        rules = self.rules(path)

        assert rules.load() == 2
        assert await self.answer(rules, "agent::abc") == "http://first.example"
        assert await self.answer(rules, "agent::acc") == "http://second.example"
        assert await self.answer(rules, "agent::bcc") is None

    async def test_reading_again_puts_new_rules_in_force(self, tmp_path: Path) -> None:
        path = tmp_path / "resources.toml"
        self.write(path, a="http://old.example")
        rules = self.rules(path)
        rules.load()
        self.write(path, a="http://new.example")

        assert rules.reload() is None
        assert await self.answer(rules, "agent::a") == "http://new.example"

    @pytest.mark.parametrize("content", [b"[[rule]]\nmatch = 7\n", b"[[rule", b"\xff\xfe", None])
    async def test_a_bad_file_leaves_the_old_rules_in_force(
        self, tmp_path: Path, content: bytes | None
    ) -> None:
        path = tmp_path / "resources.toml"
        self.write(path, a="http://old.example")
        rules = self.rules(path)
        rules.load()
        path.write_bytes(content) if content is not None else path.unlink()

        fault = rules.reload()

        assert fault is not None
        assert str(path) in fault
        assert await self.answer(rules, "agent::a") == "http://old.example"

    def test_a_bad_file_at_the_start_is_an_error(self, tmp_path: Path) -> None:
        path = tmp_path / "resources.toml"
        path.write_text("[[rule]]\n\nmatch = 7\n", "utf-8")

        with pytest.raises(BadRules, match="line 3: match must be a text") as caught:
            self.rules(path).load()

        assert str(path) in str(caught.value)


class TestKnowledge:
    def test_the_bases_of_a_model(self) -> None:
        [rule] = rules_of(CHAT + "knowledge = [3, 7]\n")
        assert isinstance(rule.target, ChatModel)
        assert rule.target.knowledge == (3, 7)

    @pytest.mark.parametrize(
        "written", ["7", '"7"', "[]", "[0]", "[-3]", "['3']", "[true]", "[1.5]", "[2147483648]"]
    )
    def test_what_is_no_list_of_bases(self, written: str) -> None:
        with pytest.raises(BadRules, match="line 6: knowledge must be a list of 1 to 20 ids"):
            rules_of(CHAT + f"knowledge = {written}\n")

    def test_too_many_bases(self) -> None:
        with pytest.raises(BadRules, match="line 6: knowledge must be a list of 1 to 20 ids"):
            rules_of(CHAT + f"knowledge = {list(range(1, 22))}\n")

    def test_a_base_named_twice(self) -> None:
        with pytest.raises(BadRules, match="line 6: knowledge names a knowledge base twice"):
            rules_of(CHAT + "knowledge = [3, 3]\n")

    def test_a_tool_of_the_same_name(self) -> None:
        tool = '[[rule.tool]]\nname = "search_knowledge"\nurl = "http://x.example"\n'
        with pytest.raises(BadRules, match="line 6: knowledge brings a tool of the name search_knowledge"):
            rules_of(f"{CHAT}knowledge = [3]\n{tool}")

    def test_only_models_search(self) -> None:
        with pytest.raises(BadRules, match="line 5: knowledge is not known here"):
            rules_of(f"{GOOD}knowledge = [3]\n")

    def test_the_bases_that_rules_name(self) -> None:
        rules = rules_of(f"{WHOLE}\n{CHAT}knowledge = [7, 3]\n")
        assert [base_id for base_id, _ in named_bases(rules)] == [12, 7, 3]
