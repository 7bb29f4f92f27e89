"""An address that events are pushed to: it keeps what comes, and checks each signature with the published library."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook


class Subscriber:
    """`statuses` are the answers to come, then 200, but 503 for events that it `refuses`. `secret` is the one that
    pushes are signed with."""

    def __init__(self, statuses: Sequence[int] = ()) -> None:
        self.received: list[tuple[str, dict[str, Any]]] = []
        self.refused: list[str] = []
        self.statuses = list(statuses)
        self.refuses: Callable[[dict[str, Any]], bool] = lambda event: False
        self.secret = ""
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                status = owner.take(dict(self.headers), self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def take(self, headers: dict[str, str], body: bytes) -> int:
        named = {name.lower(): value for name, value in headers.items()}
        if self.secret:
            Webhook(self.secret).verify(body, named)
        event = json.loads(body)
        status = self.statuses.pop(0) if self.statuses else 503 if self.refuses(event) else 200
        if 200 <= status < 300:
            self.received.append((named["webhook-id"], event))
        else:
            self.refused.append(named["webhook-id"])
        return status

    def kinds(self) -> list[str]:
        return [event["kind"] for _, event in self.received]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/events"

    def __enter__(self) -> Subscriber:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
