"""What follows an instance in the address of a call."""

import pytest

from adapters.inbound.rest.callbacks import PATH

BASE = "/api/agent/channels/any/7"


@pytest.mark.parametrize(
    ("path", "callback"),
    [
        ("/webhook", "webhook"),
        ("/webhook/", "webhook"),
        ("/v1/chat/completions", "v1/chat/completions"),
        ("/.well-known/agent-card.json", ".well-known/agent-card.json"),
        ("/a/b/c/d", "a/b/c/d"),
        ("/...", "..."),
    ],
)
def test_a_callback_has_one_to_four_segments(path: str, callback: str) -> None:
    match = PATH.fullmatch(BASE + path)
    assert match
    assert match.groups() == ("any", "7", callback)


@pytest.mark.parametrize(
    "path", ["", "/", "/a/b/c/d/e", "/a//b", "/..", "/.", "/a/../b", "/a/./b", "/v1/..", f"/{'x' * 201}"]
)
def test_other_paths_are_no_callbacks(path: str) -> None:
    assert PATH.fullmatch(BASE + path) is None
