"""The platforms of the bench: they say who the bot is, which channels ask before they read a call.

The peers are told by their configuration and ask nobody; without an answer ours would look for a host that is not
there, again and again, while it is measured.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = {
    "ok": True,
    "result": {"id": 123456, "is_bot": True, "username": "bench_bot"},  # Telegram's getMe
    "user_id": "U0BOT",  # Slack's auth.test
}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815

    def log_message(self, format: str, *arguments: object) -> None:
        return


@contextmanager
def standing_in() -> Iterator[str]:
    """The address of a server that answers for every platform."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
