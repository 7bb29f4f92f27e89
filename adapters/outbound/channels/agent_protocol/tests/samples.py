"""What the contract suite needs of the agent protocol."""

from typing import Any

from adapters.outbound.channels.tests.sample import Sample
from adapters.outbound.channels.tests.support import call
from domain.channels.messages import Attachment, RawCall

KEY = "sk-the-key-of-the-instance"
BASE = "https://switchboard.example/api/agent/channels/agent-protocol/7"
MESSAGE = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "How late is it?"}]}


def request(method: str = "SendMessage", key: str = KEY, params: Any = None, **message: Any) -> RawCall:
    """A call of the protocol, by default with a message."""
    params = {"message": {**MESSAGE, **message}} if params is None else params
    body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
    headers = {"Authorization": f"Bearer {key}", "A2A-Version": "1.0"}
    return call(as_json=body, headers=headers, callback="rpc", url=f"{BASE}/rpc")


SAMPLE = Sample(
    fields=(
        "apiKey string R, agentName string, agentDescription string, skills string,"
        " identifyUsers boolean, accessMode string"
    ),
    config={"apiKey": KEY, "agentName": "Clock", "skills": "Time: tells how late it is\nDate"},
    genuine={"message": request(), "stream": request("SendStreamingMessage", contextId="c-1")},
    forged={"key": request(key="sk-another-key-of-somebody"), "no key": request(key="")},
    attachment=Attachment("a.txt", "text/plain", {"url": "https://files.example.com/a.txt"}),
)
