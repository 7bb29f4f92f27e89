"""HTTP/1.1 as the gateway speaks it: what is no HTTP, or has a head beyond all bounds, gets the one error shape."""

from __future__ import annotations

from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adapters.inbound.rest.errors import error_response

LARGEST_HEAD = 64 * 1024
"""Bytes of the address and the headers of one request, as servers and proxies usually allow."""
LARGEST_READ = 256 * 1024
"""Bytes that the event loop hands over at once: so much of other requests may come together with a head."""

NOT_HTTP = "the request is not valid HTTP"
HEAD_TOO_LARGE = f"the address and headers of the request are over {LARGEST_HEAD // 1024} KB"


class HeadTooLarge(Exception):
    """Ends the parsing of a request."""


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which knows no limit for heads and answers what it cannot parse in plain text.

    Overrides the callbacks of the parser and `send_400_response`, with which uvicorn answers before there is a
    request that could be handed to the application.
    """

    _in_head = False
    _read = 0
    """Bytes that were read since the chunk in which the present head began."""
    _oversized = False

    def data_received(self, data: bytes) -> None:
        self._read = len(data) + (self._read if self._in_head else 0)
        super().data_received(data)
        if self._in_head and self._read > LARGEST_HEAD + LARGEST_READ and not self.transport.is_closing():
            self._oversized = True
            self.send_400_response(HEAD_TOO_LARGE)

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._read > LARGEST_HEAD and self._head_size() > LARGEST_HEAD:
            self._oversized = True
            raise HeadTooLarge  # the parser stops, and the request is answered by `send_400_response`
        super().on_headers_complete()

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def send_400_response(self, msg: str) -> None:
        """Answers and closes; where another answer is under way, that one is cut off instead of mixed up."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(self._refusal())
        self.transport.close()

    def _refusal(self) -> bytes:
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE if self._oversized else HTTPStatus.BAD_REQUEST
        answer = error_response(status, HEAD_TOO_LARGE if self._oversized else NOT_HTTP)
        headers = [*self.server_state.default_headers, *answer.raw_headers, (b"connection", b"close")]
        lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + bytes(answer.body)
