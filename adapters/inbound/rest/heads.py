"""Limits for the head of a request, and answers to what never becomes a request, in the one error shape."""

import re
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adapters.inbound.rest.errors import error_response

LARGEST_HEAD = 64 * 1024
"""Bytes of the address and the headers of one request, as servers and proxies usually allow."""
LARGEST_READ = 256 * 1024
"""Bytes that the event loop hands over at once: so much of other requests may come together with a head."""
LARGEST_DISCARD = 32 * 1024 * 1024
"""Bytes of a body that are read on after its request was answered, so that its sender gets to see the answer."""
ALWAYS_ANSWERED = ("/healthz", "/readyz", "/metrics")

HOST = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?")
"""A name or an address, and perhaps a port (RFC 3986, 3.2.2)."""
NO_HOST = "the request has no header Host: HTTP/1.1 asks for the name of the server in it"
SEVERAL_HOSTS = "the request has the header Host more than once"
WRONG_HOST = "the header Host is no host name or address with an optional port"
NOT_HTTP = "the request is not valid HTTP"
HEAD_TOO_LARGE = f"the address and headers of the request are over {LARGEST_HEAD // 1024} KB"
TRAILERS_TOO_LARGE = f"the trailers or chunk extensions of the request are over {LARGEST_HEAD // 1024} KB"
CROWDED = "the service has too many connections; try again shortly"


class HeadTooLarge(Exception):
    """Ends the parsing of a request."""


class HeadProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which knows no limit for heads and answers in plain text.

    Overrides the callbacks of the parser and `send_400_response`, with which uvicorn answers before there is a
    request that could be handed to the application.
    """

    _in_head = False
    _chunk = 0
    """Bytes that were read at once, the latest time."""
    _read = 0
    """Bytes that were read since the present head began, with all of the chunk in which it did, or since the latest
    piece of its body."""
    _receiving = False
    """Whether the body of a request is not whole yet."""
    _discarded = 0
    _crowded = False
    """Whether there were so many connections that this one is for health checks alone."""
    _current: Any = None
    """The request that is being answered, or was at last. `cycle` is the newest one, which may have to wait."""

    def data_received(self, data: bytes) -> None:
        self._chunk = len(data)
        self._read += self._chunk
        super().data_received(data)
        if self._read <= LARGEST_HEAD + LARGEST_READ or self.transport.is_closing():
            return
        if self._in_head or self._receiving:
            why = HEAD_TOO_LARGE if self._in_head else TRAILERS_TOO_LARGE
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, why)

    def on_message_begin(self) -> None:
        self._in_head, self._read = True, self._chunk
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._head_is_too_large():
            raise HeadTooLarge  # the parser stops, and the request is answered by `send_400_response`
        self._receiving, self._discarded = True, 0
        if fault := self._host_fault():
            self._refuse(HTTPStatus.BAD_REQUEST, fault)
            return
        self.scope["target"] = self.url  # type: ignore[typeddict-unknown-key]
        if self._crowded and self.url.partition(b"?")[0].decode("latin-1") not in ALWAYS_ANSWERED:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, CROWDED)
            return
        super().on_headers_complete()
        self.headers = []  # takes the trailers, which are no headers of the request (RFC 9110, 6.5.1)
        if self._current is None or self._current.response_complete:
            self._current = self.cycle

    def on_body(self, body: bytes) -> None:
        self._read = 0
        if self.transport.is_closing():
            return
        if self.cycle.response_complete:
            self._discarded += len(body)
            if self._discarded > LARGEST_DISCARD:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._receiving = False
        if not self.transport.is_closing():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        self._current = self.pipeline[-1][0] if self.pipeline else self.cycle
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """uvicorn tells the newest request alone, and one before it would write to a connection that is closed."""
        if self._current is not None and not self._current.response_complete:
            self._current.disconnected = True
            self._current.message_event.set()
        super().connection_lost(exc)

    def _unsupported_upgrade_warning(self) -> None:
        """The request is served as if it had not asked for an upgrade (RFC 9110, 7.8)."""

    def _host_fault(self) -> str:
        """Why the header Host is refused, which HTTP/1.1 requires once (RFC 9112, 3.2); empty if it is right."""
        hosts = [value for name, value in self.headers if name == b"host"]
        if not hosts:
            return NO_HOST if self.parser.get_http_version() not in ("0.9", "1.0") else ""
        if len(hosts) > 1:
            return SEVERAL_HOSTS
        return "" if HOST.fullmatch(hosts[0]) else WRONG_HOST

    def _head_is_too_large(self) -> bool:
        if self._read <= LARGEST_HEAD:
            return False
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > LARGEST_HEAD

    def send_400_response(self, msg: str) -> None:
        if self._head_is_too_large():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, HEAD_TOO_LARGE)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, NOT_HTTP)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """Answers and closes; where another answer is under way, that one is cut off instead of mixed up."""
        cycle = self._current
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(self._refusal(status, why))
        self.transport.close()

    def _refusal(self, status: HTTPStatus, why: str) -> bytes:
        retry = {"retry-after": "1"} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
        answer = error_response(status, why, retry)
        headers = [*self.server_state.default_headers, *answer.raw_headers, (b"connection", b"close")]
        lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
        lines += [name + b": " + value for name, value in headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + bytes(answer.body)
