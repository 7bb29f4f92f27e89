"""What servers repeat of a request holds no secret of the resource."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.resources.echoed_secrets import HIDDEN, secrets_of, without_secrets
from adapters.outbound.resources.http_runner import HttpTarget
from adapters.outbound.resources.model_settings import ChatModel, ChatTool, McpServer
from ports.http import HttpAnswer, HttpFailed, HttpRequest

TOKEN = 'sk-"0123456789/abc'
TARGET = HttpTarget("http://agent.example/ask", TOKEN)
ASKED = HttpRequest("POST", "http://agent.example/ask")


@dataclass
class Server:
    """Answers with these pieces, or refuses with the first one."""

    pieces: Sequence[bytes]
    refuses: bool = False

    def answer(self) -> HttpAnswer:
        return HttpAnswer(401 if self.refuses else 200, {"x-echo": TOKEN}, self.pieces[0])

    async def send(self, request: HttpRequest) -> HttpAnswer:
        return self.answer()

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        if self.refuses:
            raise HttpFailed("it refuses", before_request=False, answer=self.answer())
        if request.on_head:
            request.on_head(self.answer())
        for piece in self.pieces:
            yield piece


async def streamed(*pieces: bytes) -> list[bytes]:
    return [piece async for piece in without_secrets(Server(pieces), TARGET).stream(ASKED)]


@pytest.mark.parametrize(
    "written",
    [
        TOKEN.encode(),
        b'sk-\\"0123456789/abc',
        b'sk-\\"0123456789\\/abc',
        b"sk-%220123456789%2Fabc",
    ],
    ids=["as it is", "in JSON", "in JSON of PHP", "in an address"],
)
async def test_however_a_secret_is_written_it_is_hidden(written: bytes) -> None:
    answer = await without_secrets(Server([b"Bearer " + written + b"."]), TARGET).send(ASKED)
    assert answer.body == b"Bearer " + HIDDEN + b"."
    assert answer.headers == {"x-echo": HIDDEN.decode()}


async def test_a_refusal_and_the_head_of_a_stream_are_clean_too() -> None:
    heads: list[HttpAnswer] = []
    request = HttpRequest("POST", ASKED.url, on_head=heads.append)
    assert [piece async for piece in without_secrets(Server([b"a"]), TARGET).stream(request)] == [b"a"]
    with pytest.raises(HttpFailed) as failed:
        await anext(without_secrets(Server([TOKEN.encode()], refuses=True), TARGET).stream(ASKED))
    refusal = failed.value.answer
    assert refusal is not None
    assert [refusal.body, refusal.headers["x-echo"], heads[0].headers["x-echo"]] == [
        HIDDEN,
        HIDDEN.decode(),
        HIDDEN.decode(),
    ]


@given(st.lists(st.integers(0, 60), max_size=6))
async def test_cuts_of_a_stream_hide_no_secret(cuts: list[int]) -> None:
    text = b"sk-sk-\\" + b"before " + TOKEN.encode() + b" between " + TOKEN.encode()
    ends = [0, *sorted(cuts), len(text)]
    pieces = await streamed(*(text[a:b] for a, b in pairwise(ends) if a < b))
    assert b"".join(pieces) == b"sk-sk-\\before " + HIDDEN + b" between " + HIDDEN
    assert b"" not in pieces


async def test_what_only_begins_like_a_secret_comes_whole() -> None:
    assert (
        b"".join(await streamed(b"sk-", b'"01', b"!", TOKEN.encode()[:-1]))
        == b'sk-"01!' + TOKEN.encode()[:-1]
    )


def test_all_that_a_rule_calls_with_is_secret() -> None:
    model = ChatModel(
        url="http://ann:p%40ssword@agent.example/v1?key=0123456789abcdef&version=2026-01-01",
        model="m",
        token="token-of-the-model",
        tools=(ChatTool("t", "http://tools.example", token="token-of-the-tool"),),
        mcp_servers=(
            McpServer(
                "s", "http://mcp.example", {"X-Key": "Bearer header-key", "X-On": "true"}, token="mcp-token"
            ),
        ),
    )
    assert set(secrets_of(model)) == {
        "p%40ssword",
        "p@ssword",
        "YW5uOnBAc3N3b3Jk",
        "0123456789abcdef",
        "token-of-the-model",
        "token-of-the-tool",
        "Bearer header-key",
        "header-key",
        "mcp-token",
    }


def test_a_header_is_secret_by_its_name_or_by_its_look() -> None:
    headers = {
        "Accept": "application/json, text/event-stream",
        "X-Tenant": "production",
        "X-Password": "horse-battery",
        "X-Proof": "a1b2c3d4e5f6a7b8",
    }
    model = ChatModel(
        url="http://agent.example", model="m", mcp_servers=(McpServer("s", "http://m.example", headers),)
    )
    assert set(secrets_of(model)) == {"horse-battery", "a1b2c3d4e5f6a7b8"}


def test_without_a_secret_nothing_stands_between() -> None:
    server = Server([b"a"])
    assert without_secrets(server, HttpTarget("http://agent.example", "short")) is server
