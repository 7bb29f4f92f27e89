"""The body of an `HttpRequest`: bytes, or content that is read while it is sent."""

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import orjson

from ports.http import HttpRequest


class Source:
    """Reads streamed content and remembers what went wrong with it, which is not the server's fault."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    async def guard(self, content: AsyncIterator[bytes], size: int | None) -> AsyncIterator[bytes]:
        """The same pieces; fails when they do not add up to the announced size."""
        total = 0
        try:
            async for piece in content:
                total += len(piece)
                if size is not None and total > size:
                    raise ValueError(f"the content is longer than the {size} bytes announced")
                yield piece
            if size is not None and total < size:
                raise ValueError(f"the content ended after {total} of {size} bytes")
        except Exception as error:
            self.error = error
            raise


def whole_body(request: HttpRequest) -> tuple[bytes, str] | None:
    """The body with its content type, None where there is none or it is not in memory."""
    if request.json is not None:
        return _json(request.json), "application/json"
    if request.form is not None:
        return urlencode(request.form).encode(), "application/x-www-form-urlencoded"
    if isinstance(request.content, bytes):
        return request.content, "application/octet-stream"
    return None


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:  # integers over 64 bits, lone surrogates
        return json.dumps(value).encode()
