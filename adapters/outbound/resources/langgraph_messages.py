"""Messages as LangGraph and LangChain write them: what a conversation adds to a thread, and what the thread answers.

https://docs.langchain.com/oss/python/langchain/messages
"""

import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from adapters.outbound.resources import messages
from adapters.outbound.resources.messages import BadAnswer, checked_result, usage_of
from adapters.outbound.resources.model_runner import message_text
from domain.routing.model import ResultArtifact, RunRequest, RunResult, summed

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


def messages_of(state: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Raises `BadAnswer`."""
    values = state.get("values")
    history = values.get("messages") if isinstance(values, dict) else None
    if not isinstance(history, list) or not all(isinstance(message, dict) for message in history):
        raise BadAnswer("the state of the graph has no list of messages")
    return history


@dataclass(frozen=True, slots=True)
class Mark:
    """The message of a thread after which an answer begins: its id, and how many messages there were up to it, where
    that is known. What parallel steps wrote may get new ids when the thread is resumed."""

    id: str
    count: int = 0

    @classmethod
    def end_of(cls, history: Sequence[Mapping[str, Any]]) -> Self:
        id = history[-1].get("id") if history else None
        return cls(id if isinstance(id, str) and len(id) <= MAX_ID else "", len(history))

    def start_in(self, history: Sequence[Mapping[str, Any]]) -> int:
        """Where the answer begins; after the last message of a person where the graph has dropped earlier ones."""
        ids = (at + 1 for at, message in enumerate(history) if self.id and message.get("id") == self.id)
        if start := next(ids, self.count if self.count <= len(history) else 0):
            return start
        humans = (at + 1 for at in range(len(history) - 1, -1, -1) if history[at].get("type") == "human")
        return next(humans, 0)


def answered(history: Sequence[Mapping[str, Any]], mark: Mark) -> RunResult:
    """The texts, files and tokens of the agent's messages after a mark. Raises `BadAnswer`."""
    answers = [message for message in history[mark.start_in(history) :] if message.get("type") in _AI]
    texts = [text_of(message.get("content")).strip() for message in answers]
    blocks = [block for message in answers for block in _media(message.get("content"))]
    artifacts = tuple(map(_artifact, blocks, range(1, len(blocks) + 1)))
    usages = (usage_of(message.get("usage_metadata"), "input_tokens", "output_tokens") for message in answers)
    return checked_result(RunResult("\n\n".join(filter(None, texts)), artifacts, usage=summed(*usages)))


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
    url, data, mime_type = _source(block)
    if not isinstance(mime_type, str):
        raise BadAnswer(f"the mime_type of content block {number} is not a string")
    if not mime_type and isinstance(url, str):
        mime_type = mimetypes.guess_type(url)[0] or ""
    extra = block.get("metadata")
    name = block.get("filename") or (extra.get("filename") if isinstance(extra, dict) else None)
    if not name:
        name = f"{kind}-{number}{mimetypes.guess_extension(mime_type) or ''}"
    item = {"name": name, "mimeType": mime_type, "url": url, "dataBase64": data}
    return messages.artifact_of(item, f"content block {number}")


def _source(block: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """The address of a file or its bytes in base64, and its media type."""
    url = block.get("url")
    if block["type"] == "image_url":
        address = block.get("image_url")
        url = address.get("url") if isinstance(address, dict) else address
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.removeprefix("data:").partition(",")
        return None, data, head.removesuffix(";base64")
    return url, block.get("base64", block.get("data")), block.get("mime_type") or ""
