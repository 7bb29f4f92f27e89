"""Takes the secrets of a resource out of what its servers answer: many repeat a request, headers and all, in their
errors, and some in their answers."""

import json
import re
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from domain.rendering import off_loop
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest

HIDDEN = b"***"
SHORTEST_SECRET = 8
"""Characters. A shorter text is no secret worth the name, and may stand in any answer: true, null, 2026."""
SHORTEST_KEY = 16
"""Characters of a value that may as well be a version, a date or a region: in the query of an address, or in a header
whose name does not tell that it holds a secret."""
_SECRET_NAME = re.compile("auth|cookie|credential|key|pass|secret|sign|token", re.IGNORECASE)


def secrets_of(target: Any) -> Sequence[str]:
    """The secrets that the target of a rule, its tools and its MCP servers are called with, the longest first."""
    secrets: set[str] = set()
    for place in (target, *getattr(target, "tools", ()), *getattr(target, "mcp_servers", ())):
        secrets.add(getattr(place, "token", None) or "")
        for name, value in getattr(place, "headers", {}).items():
            secrets.update(_of_header(name, value))
        secrets.update(_of_address(getattr(place, "url", "")))
    return sorted((text for text in secrets if len(text) >= SHORTEST_SECRET), key=len, reverse=True)


def _of_header(name: str, value: str) -> Iterator[str]:
    """The value, and its words: of "Bearer x" servers repeat x alone."""
    for text in (value, *value.split()):
        if _SECRET_NAME.search(name) or (
            len(text) >= SHORTEST_KEY and any(map(str.isdigit, text)) and any(map(str.isalpha, text))
        ):
            yield text


def _of_address(url: str) -> Iterator[str]:
    """The password in an address, as it is written and as it is sent, and the keys in its query."""
    parts = urlsplit(url)
    if parts.password:
        user, password = unquote(parts.username or ""), unquote(parts.password)
        yield from (parts.password, password, b64encode(f"{user}:{password}".encode()).decode())
    yield from (text for _, text in parse_qsl(parts.query) if len(text) >= SHORTEST_KEY)


def written_forms(target: Any) -> Sequence[str]:
    """Each secret of a target as it is, in JSON, and in an address."""
    forms: dict[str, None] = {}
    for secret in secrets_of(target):
        in_json = json.dumps(secret)[1:-1]
        forms |= dict.fromkeys((secret, in_json, in_json.replace("/", "\\/"), quote(secret, safe="")))
    return tuple(forms)


def without_secrets(http: Http, target: Any) -> Http:
    """The HTTP port for the target of a rule."""
    forms = tuple(form.encode() for form in written_forms(target))
    return WithoutSecrets(http, forms) if forms else http


@dataclass(frozen=True, slots=True)
class WithoutSecrets:
    """`ports.http.Http` that hides secrets in all that comes back. `forms`: how they may be written."""

    http: Http
    forms: Sequence[bytes] = field(repr=False)

    async def send(self, request: HttpRequest) -> HttpAnswer:
        try:
            answer = await self.http.send(request)
        except HttpFailed as failed:
            self._clean_refusal(failed)
            raise
        return await off_loop(len(answer.body), self._answer, answer)

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        on_head = request.on_head

        def begin(head: HttpAnswer) -> None:
            if on_head:
                on_head(self._answer(head))

        pieces = cast(AsyncGenerator[bytes, None], self.http.stream(replace(request, on_head=begin)))
        rest = b""
        try:
            async with aclosing(pieces) as closing:
                async for piece in closing:
                    text = self._clean(rest + piece)
                    end = len(text) - self._begun(text)
                    rest = text[end:]
                    if end:
                        yield text[:end]
        except HttpFailed as failed:
            self._clean_refusal(failed)
            raise
        if rest:
            yield rest

    def _clean(self, text: bytes) -> bytes:
        for form in self.forms:
            text = text.replace(form, HIDDEN)
        return text

    def _begun(self, text: bytes) -> int:
        """The bytes at the end of a text with which a secret may begin that the next piece ends."""
        return max(_begun_with(text, form) for form in self.forms)

    def _answer(self, answer: HttpAnswer) -> HttpAnswer:
        headers = {
            name: self._clean(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
            for name, text in answer.headers.items()
        }
        return replace(answer, headers=headers, body=self._clean(answer.body))

    def _clean_refusal(self, failed: HttpFailed) -> None:
        if failed.answer is not None:
            failed.answer = self._answer(failed.answer)


def _begun_with(text: bytes, form: bytes) -> int:
    start = max(0, len(text) - len(form) + 1)
    while (at := text.find(form[:1], start)) >= 0:
        if form.startswith(text[at:]):
            return len(text) - at
        start = at + 1
    return 0
