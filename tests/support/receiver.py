"""A loopback HTTP server in a thread that keeps every JSON body posted to it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def _nothing(_: Any) -> Any:
    return None


class _Server(ThreadingHTTPServer):
    request_queue_size = 128


class Receiver:
    """`received` are the idempotency keys and JSON objects that came, in order.

    Each is answered with `status` and the JSON that `answer` makes of it, with an empty body where that is None.
    """

    def __init__(self, answer: Callable[[Any], Any] = _nothing, status: int = 200) -> None:
        self.received: list[tuple[str | None, Any]] = []
        self.traceparents: list[str | None] = []
        received, traceparents = self.received, self.traceparents

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                traceparents.append(self.headers["traceparent"])
                received.append((self.headers["Idempotency-Key"], body))
                made = answer(body)
                content = b"" if made is None else json.dumps(made).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # who asked may have been stopped meanwhile
                    self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                return

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def bodies(self) -> list[Any]:
        return [body for _, body in self.received]

    @property
    def keys(self) -> list[str | None]:
        return [key for key, _ in self.received]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/answers"

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
