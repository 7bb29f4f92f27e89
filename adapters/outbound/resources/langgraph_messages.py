"""Messages as LangGraph and LangChain write them: what a conversation adds to a thread, and what the thread answers.

https://docs.langchain.com/oss/python/langchain/messages
"""

import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.outbound.resources import messages
from adapters.outbound.resources.chat_completions import message_text
from adapters.outbound.resources.messages import BadAnswer
from domain.routing.model import ResultArtifact, RunRequest

_AI = frozenset({"ai", "AIMessageChunk"})
_MEDIA = frozenset({"image", "image_url", "audio", "video", "file"})
MAX_ID = 256


def human_message(request: RunRequest, *, images: bool) -> dict[str, Any]:
    """The message as the agent reads it. Its id is that of the request: where it is sent again, it takes its own
    place. `images`: pictures are content blocks besides the line with their address."""
    text = message_text(request)
    pictures = [
        {"type": "image_url", "image_url": {"url": file.url}}
        for file in request.files
        if file.mime_type.startswith("image/")
    ]
    content = [{"type": "text", "text": text}, *pictures] if images and pictures else text
    return {"type": "human", "id": request.request_id, "content": content}


def described(request: RunRequest) -> dict[str, Any]:
    """What the graph reads of a request in its configuration: the fields of kind `http` that are not the message."""
    body = messages.request_json(request)
    return {name: value for name, value in body.items() if name not in ("text", "quoted", "thread")}


def messages_of(state: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Raises `BadAnswer`."""
    values = state.get("values")
    found = values.get("messages") if isinstance(values, dict) else None
    if not isinstance(found, list) or not all(isinstance(message, dict) for message in found):
        raise BadAnswer("the state of the graph has no list of messages")
    return found


def last_id(found: Sequence[Mapping[str, Any]]) -> str:
    """The id of the last message, empty where it has none that can be kept."""
    id = found[-1].get("id") if found else None
    return id if isinstance(id, str) and len(id) <= MAX_ID else ""


def answered(found: Sequence[Mapping[str, Any]], after: str) -> tuple[str, tuple[ResultArtifact, ...]]:
    """The texts and files of the agent's messages after the one with an id, or after the last message of a person
    where a graph has dropped that one. Raises `BadAnswer`."""
    start = next((at for at, message in enumerate(found) if after and message.get("id") == after), None)
    if start is None:
        humans = (at for at in range(len(found) - 1, -1, -1) if found[at].get("type") == "human")
        start = next(humans, -1)
    answers = [message for message in found[start + 1 :] if message.get("type") in _AI]
    texts = [text_of(message.get("content")).strip() for message in answers]
    blocks = [block for message in answers for block in _media(message.get("content"))]
    return "\n\n".join(filter(None, texts)), tuple(map(_artifact, blocks, range(1, len(blocks) + 1)))


def piece_of(event: Any) -> tuple[str, str]:
    """The id of a model's message, and the piece of text that it gets; empty for everything else."""
    message = event[0] if isinstance(event, list) and event else None
    if not isinstance(message, dict) or message.get("type") not in _AI:
        return "", ""
    return str(message.get("id")), text_of(message.get("content"))


def text_of(content: Any) -> str:
    """The text of a message: a string, or the text blocks of a list. Thoughts and tool calls are left out."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    parts = (_block_text(block) for block in blocks)
    return "".join(parts)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else ""
    return text if isinstance(text, str) else ""


def _media(content: Any) -> Iterator[Mapping[str, Any]]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in _MEDIA:
            yield block


def _artifact(block: Mapping[str, Any], number: int) -> ResultArtifact:
    """The file in a content block: `{type, url | base64, mime_type}`, its older form with `source_type` and `data`,
    or `{type: image_url, image_url: {url}}` with an address or a data URL."""
    kind = str(block["type"]).removesuffix("_url")
    url, data = block.get("url"), block.get("base64", block.get("data"))
    mime_type = block.get("mime_type") or ""
    if block["type"] == "image_url":
        address = block.get("image_url")
        url = address.get("url") if isinstance(address, dict) else address
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.removeprefix("data:").partition(",")
        mime_type, url = head.removesuffix(";base64"), None
    extra = block.get("metadata")
    name = block.get("filename") or (extra.get("filename") if isinstance(extra, dict) else None)
    if not isinstance(mime_type, str):
        raise BadAnswer(f"the mime_type of content block {number} is not a string")
    mime_type = mime_type or (mimetypes.guess_type(url)[0] if isinstance(url, str) else "") or ""
    ending = mimetypes.guess_extension(mime_type) or (".png" if kind == "image" else "")
    item = {"name": name or f"{kind}-{number}{ending}", "mimeType": mime_type, "url": url, "dataBase64": data}
    return messages.artifact_of(item, f"content block {number}")
