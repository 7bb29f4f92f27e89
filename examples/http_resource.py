"""A downstream resource over HTTP, with Python's standard library alone.

    python examples/http_resource.py            # listens on 127.0.0.1:8701
    DOWNSTREAM_URL=http://127.0.0.1:8701/run switchboard up

It greets, hands out a file when it reads "report", and asks before it "deletes" anything.
"""

from __future__ import annotations

import base64
import json
import logging
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = dict[str, Any]


def answer(request: dict[str, Any]) -> Answer:
    """The answer to one message; this is the part that you write."""
    approval = request.get("approval")
    if approval:
        return decided(approval["tool"], approval["decision"])
    text = request["text"].lower()
    if "delete" in text and "delete_notes" not in request["approvedTools"]:
        confirmation = {"tool": "delete_notes", "parameters": {"older_than_days": 30}}
        return {"text": "That cannot be undone.", "confirmation": confirmation}
    if "delete" in text:
        return {"text": "The notes are deleted."}
    if "report" in text:
        content = base64.b64encode(b"Everything is fine.\n").decode()
        artifact = {"name": "report.txt", "mimeType": "text/plain", "dataBase64": content}
        return {"text": "Here is the report.", "artifacts": [artifact]}
    name = request["sender"]["displayName"] or "whoever you are"
    return {"text": f"Hello {name}, you wrote: **{request['text']}**"}


def decided(tool: str, decision: str) -> Answer:
    """The answer once a person has decided on a tool."""
    if decision == "rejected":
        return {"text": f"Then {tool} stays undone."}
    return {"text": "The notes are deleted."}


class Handler(BaseHTTPRequestHandler):
    """Reads the documented JSON, writes the documented JSON."""

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        request = json.loads(self.rfile.read(length))
        whole = answer(request)
        if "text/event-stream" in self.headers.get("Accept", ""):
            self._stream(whole)
        else:
            self._write(whole)

    def _write(self, whole: Answer) -> None:
        body = json.dumps(whole).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, whole: Answer) -> None:
        """The text word by word, so that it is shown while it is being made, and the whole answer at the end."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for word in str(whole["text"]).split(" "):
            self._write_event({"textDelta": f"{word} "})
        self._write_event(whole)

    def _write_event(self, event: Answer) -> None:
        self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        logging.info(format, *args)


def serve(port: int) -> ThreadingHTTPServer:
    """A server on the loopback interface; 0 takes a free port."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8701).serve_forever()
