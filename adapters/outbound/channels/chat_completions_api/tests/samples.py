"""What the contract suite needs of the chat-completions endpoint."""

from typing import Any

from adapters.outbound.channels.tests.sample import Sample
from adapters.outbound.channels.tests.support import call
from domain.channels.messages import Attachment, RawCall

KEY = "sk-the-key-of-the-instance"
BASE = "https://switchboard.example/api/agent/channels/chat-completions-api/7/"


def request(path: str = "v1/chat/completions", key: str = KEY, method: str = "POST", **body: Any) -> RawCall:
    """A call of the protocol, by default with one message of a user."""
    whole = {"model": "gpt", "messages": [{"role": "user", "content": "How late is it?"}], **body}
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "call-1"}
    return call(as_json=whole, headers=headers, callback=path, method=method, url=BASE + path)


SAMPLE = Sample(
    fields="apiKey string R, modelName string, identifyUsers boolean, accessMode string",
    config={"apiKey": KEY, "modelName": "clock"},
    genuine={"message": request(), "stream": request(stream=True, user="ann")},
    forged={"key": request(key="sk-another-key-of-somebody"), "no key": request(key="")},
    attachment=Attachment("a.txt", "text/plain", {"url": "https://files.example.com/a.txt"}),
)
