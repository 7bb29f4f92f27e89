"""Forms of the console over plain HTTP."""

import re
from collections.abc import Mapping
from typing import Any

import httpx

TOKEN = re.compile(r'<meta name="csrf" content="([0-9a-f]+)">')


def token_of(client: httpx.Client) -> str:
    """The CSRF token of the forms of this person."""
    found = TOKEN.search(client.get("/console").text)
    assert found is not None
    return found[1]


def posted(client: httpx.Client, path: str, form: Mapping[str, Any] | None = None) -> httpx.Response:
    """The answer to a form of the console that was sent as a browser sends it."""
    return client.post(path, data={"csrf": token_of(client), **(form or {})})
