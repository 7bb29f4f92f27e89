"""Markdown of answers, addresses of conversations, and faults beside fields."""

import pytest

from adapters.inbound.console.filters import local, visible
from adapters.inbound.console.markdown import Markdown
from adapters.inbound.console.navigation import conversation_path, session_of
from adapters.inbound.console.pages.conversation import faults_by_field
from domain.refusals import Conflict, Fault, Invalid, NotFound


def html(text: str) -> str:
    return Markdown(text).__html__().strip()


def test_markdown_is_shown() -> None:
    assert html("**a** `b`\nc") == "<p><strong>a</strong> <code>b</code><br />\nc</p>"
    assert html("# Title") == "<p><strong>Title</strong></p>"
    link = '<a href="https://a.example" rel="noopener noreferrer nofollow" target="_blank">a</a>'
    assert html('[a](https://a.example "title")') == f"<p>{link}</p>"


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example/x",
        "/console/sign-out",
        "x",
    ],
)
def test_other_addresses_lead_nowhere(address: str) -> None:
    assert "href" not in html(f"[a]({address}) <{address}>\n\n[b]: {address}\n[b]")


def test_html_and_pictures_are_texts() -> None:
    shown = html('<script>alert(1)</script> <b onclick="x">b</b> ![p](https://a.example/p.png "<x>")')
    assert "<script" not in shown
    assert "<b " not in shown
    assert "<img" not in shown


@pytest.mark.parametrize(
    "session", ["4711", "a.b", "thread:7@c.us", "+49", ".", "..", "~x", "a/b", "", "\0", "\ud83d", "é"]
)
def test_addresses_lead_back_to_the_session(session: str) -> None:
    path = conversation_path(7, session)
    segment = path.removeprefix("/console/inbox/7/")
    assert "/" not in segment
    assert segment not in (".", "..")
    assert segment.isascii()
    assert session_of(segment) == session


def test_an_address_of_nothing_is_not_found() -> None:
    for segment in ("~_w", "~A"):
        with pytest.raises(NotFound):
            session_of(segment)


def test_faults_stand_beside_their_fields() -> None:
    faults = [Fault("files[2].name", "is none"), Fault("files", "too many"), Fault("sessionId", "is wrong")]
    assert faults_by_field(Invalid.of(faults)) == {
        "files": "is none; too many",
        "text": "sessionId: is wrong",
    }
    reason = "the person wrote STOP and gets no more messages until they write START"
    assert faults_by_field(Conflict(reason)) == {"text": reason}
    assert faults_by_field(Invalid("the channel cannot send")) == {"text": "the channel cannot send"}


def test_files_of_ours_are_fetched_below_this_host() -> None:
    own = "https://agent.example"
    assert local(f"{own}/api/agent/files/t/a.txt", own) == "/api/agent/files/t/a.txt"
    assert local("https://agent.example.evil/a", own) == "https://agent.example.evil/a"
    assert local("javascript:alert(1)", own) == ""


def test_what_cannot_be_seen_is_marked() -> None:
    assert visible("a\nb\u202ec") == "a\ufffdb\ufffdc"
    assert visible("\x00\x85\u2028\u2066\ud800") == "\ufffd" * 5


def test_a_name_is_shown_as_it_is_written() -> None:
    names = (
        "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",  # zero-width non-joiner
        "\N{WOMAN}\u200d\N{PERSONAL COMPUTER}",
        "क्\u200dष",  # zero-width joiner
        "Jean\xa0Luc\u202fPicard",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # a flag, by tag characters
        "\U0001fae9 \U0001fadf",  # of a later Unicode than this Python may know
        "O\xadBrien\ufe0f",
    )
    assert [visible(name) for name in names] == list(names)
