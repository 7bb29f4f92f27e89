"""Messages of A2A: a request as a message of the user, and what an agent answers as a result. Pure."""

import json
import mimetypes
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from a2a.types import Artifact, Message, Part, Role, StreamResponse, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict, ParseDict

from adapters.outbound.resources.answers import own_words
from adapters.outbound.resources.messages import (
    MAX_ARTIFACT_BYTES,
    MAX_TEXT,
    BadAnswer,
    checked_artifact,
    checked_result,
    request_json,
)
from domain.routing.model import InputFile, ResultArtifact, RunRequest, RunResult
from domain.values import iso_milliseconds
from ports.resources import DownstreamFailed

METADATA = "switchboard"
"""The key in the metadata of a message under which the request stands as the kind `http` gets it."""
LONGEST_ID = 256
"""Characters of the ids that an agent gives."""

REJECTED = "The agent does not take this on."
SIGN_IN = "The agent needs you to sign in, or to grant access, before it goes on."
WRITE_AGAIN = "Write here when that is done."

INTERRUPTED = frozenset({TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED})
_FAILED: dict[int, str] = {
    TaskState.TASK_STATE_FAILED: "the task failed",
    TaskState.TASK_STATE_CANCELED: "the task was canceled by the agent",
}
ENDED = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
    }
)


def message_of(request: RunRequest, context_id: str, task_id: str) -> Message:
    """The message, with earlier messages that it refers to as a text before it."""
    parts = [Part(text=text) for text in (_before(request), request.text or request.reaction) if text]
    parts += [_file(file) for file in request.files]
    message = Message(
        message_id=request.request_id,
        context_id=context_id,
        task_id=task_id,
        role=Role.ROLE_USER,
        parts=parts or [Part(text="")],
    )
    known = {key: value for key, value in request_json(request).items() if key not in ("text", "files")}
    ParseDict({METADATA: known}, message.metadata)
    return message


def _file(file: InputFile) -> Part:
    return Part(url=file.url, filename=file.name, media_type=file.mime_type)


def _before(request: RunRequest) -> str:
    """The thread and the quoted message, each line of them marked as a quotation."""
    lines = []
    for earlier in request.thread:
        lines += [f"[{earlier.author} wrote at {iso_milliseconds(earlier.at)}:]", *_quotation(earlier.text)]
    if quoted := request.quoted:
        lines += [f"[the message replies to {quoted.author or 'somebody'}:]", *_quotation(quoted.text)]
        lines += [f"> {file.name}: {file.url}" for file in quoted.files]
    return "\n".join(lines)


def _quotation(text: str) -> list[str]:
    return [f"> {line}" for line in text.splitlines()]


@dataclass(slots=True)
class _Piece:
    """A text, or a file where `part` is there; more of it may follow."""

    part: Part | None
    texts: list[str] = field(default_factory=list)
    bytes: list[bytes] = field(default_factory=list)

    def takes(self, part: Part, *, appended: bool) -> bool:
        """Return True if the part is more of the same text or file: agents hold what they streamed in pieces."""
        if self.part is None:
            return _is_text(part) and part.HasField("text")
        if not (part.HasField("raw") and self.part.HasField("raw")):
            return False
        if part.filename:
            return part.filename == self.part.filename
        return appended or not part.media_type


def _is_text(part: Part) -> bool:
    return part.HasField("data") or (part.HasField("text") and not part.filename)


class _Content:
    """The texts and files of one artifact, or of a message, whose parts do not belong together. Raises
    `BadAnswer`."""

    def __init__(self, name: str = "", *, is_message: bool = False) -> None:
        self._name = name
        self._is_message = is_message
        self._pieces: list[_Piece] = []

    def add(self, parts: Iterable[Part], *, appended: bool = False) -> int:
        """Adds parts, which an agent may have `appended` to what it sent; how large they are."""
        size = 0
        for part in parts:
            is_text, last = _is_text(part), self._pieces[-1] if self._pieces else None
            if last is None or self._is_message or not last.takes(part, appended=appended):
                self._pieces.append(_Piece(None if is_text else part))
            if is_text:
                text = _text(part)
                self._pieces[-1].texts.append(text)
                size += len(text)
            elif part.HasField("raw"):
                self._pieces[-1].bytes.append(part.raw)
                size += len(part.raw)
        return size

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def texts(self) -> list[str]:
        joined = ("".join(piece.texts) for piece in self._pieces if piece.part is None)
        return [text for text in joined if text.strip()]

    def files(self) -> list[ResultArtifact]:
        return [self._file(piece) for piece in self._pieces if piece.part is not None]

    def _file(self, piece: _Piece) -> ResultArtifact:
        part = piece.part or Part()
        media_type = part.media_type
        if part.HasField("url"):
            url, data = part.url, None
        elif part.HasField("text"):
            url, data, media_type = None, part.text.encode(), media_type or "text/plain"
        else:
            url, data = None, b"".join(piece.bytes)
        name = part.filename or self._file_name(media_type)
        return checked_artifact(name, media_type, url, data, "a part of the answer")

    def _file_name(self, media_type: str) -> str:
        """The name of the artifact, where it is that of one file alone."""
        if self._name and len(self._pieces) == 1:
            return self._name
        return (self._name or "file") + (mimetypes.guess_extension(media_type) or "")


def _text(part: Part) -> str:
    """A text as it is, data as JSON in a block of code; the library does not keep the order of keys."""
    if part.HasField("text"):
        return part.text
    shown = json.dumps(_whole(MessageToDict(part.data)), indent=2, ensure_ascii=False, sort_keys=True)
    return f"```json\n{shown}\n```"


def _whole(value: Any) -> Any:
    """The value with whole numbers as they were written: the library keeps each number as a float."""
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class TaskReader:
    """Gathers what an agent answers: a message, or a task with its artifacts. `secret` goes on no record. `sent_ids`:
    the artifacts that the sender has from an earlier message of the same task. `continues`: the message went to a
    task that waited for it, so the state that the task had before does not count. Raises `BadAnswer`."""

    def __init__(
        self, secret: str | None, sent_ids: Set[str] = frozenset(), *, continues: bool = False
    ) -> None:
        self._secret = secret
        self.task_id = ""
        self.context_id = ""
        self.state: int = TaskState.TASK_STATE_UNSPECIFIED
        self._sent_ids = sent_ids
        self._continues = continues
        self._artifacts: dict[str, _Content] = {}
        self._note = _Content(is_message=True)
        self._reply: _Content | None = None
        self._size = 0

    def read(self, event: StreamResponse) -> None:
        match event.WhichOneof("payload"):
            case "message":
                self._named("", event.message.context_id)
                self._reply = _message(event.message.parts)
            case "task":
                self.read_task(event.task)
            case "status_update":
                update = event.status_update
                self._named(update.task_id, update.context_id)
                self._set(update.status)
                self._continues = False
            case "artifact_update":
                self._named(event.artifact_update.task_id, event.artifact_update.context_id)
                self._update(event.artifact_update.artifact, appended=event.artifact_update.append)

    def read_task(self, task: Task) -> None:
        """Takes a whole task in place of what was read before."""
        self._named(task.id, task.context_id)
        self._artifacts, self._size = {}, 0
        for artifact in task.artifacts:
            if artifact.artifact_id not in self._sent_ids:
                self._update(artifact, appended=False)
        if self._continues and task.status.state in INTERRUPTED:
            return
        self._set(task.status)
        is_silent = not self._artifacts and not self._note
        answers = [message for message in task.history if message.role == Role.ROLE_AGENT]
        if task.status.state == TaskState.TASK_STATE_COMPLETED and is_silent and answers:
            self._note = _message(answers[-1].parts)

    def goes_on(self) -> None:
        """From now on any state counts: the stream that began with the former one has ended."""
        self._continues = False

    @property
    def is_settled(self) -> bool:
        """Return True if nothing more is to come without the sender."""
        return self._reply is not None or self.state in ENDED or self.is_interrupted

    @property
    def is_interrupted(self) -> bool:
        return self.state in INTERRUPTED

    @property
    def needs_access(self) -> bool:
        """Return True if the task goes on once the sender has signed in elsewhere."""
        return self.state == TaskState.TASK_STATE_AUTH_REQUIRED

    @property
    def artifact_ids(self) -> Sequence[str]:
        return [*self._sent_ids, *self._artifacts]

    @property
    def has_begun(self) -> bool:
        """Return True if there may be a text to show."""
        return bool(self._reply or self._artifacts or self._note)

    def text(self) -> str:
        """The answer so far; before there is any, what the agent says of its progress."""
        if self._reply is not None:
            return _joined(self._reply.texts())
        texts = [text for content in self._artifacts.values() for text in content.texts()]
        return _joined(texts or self._note.texts())

    def result(self) -> RunResult:
        """What goes to the sender. Raises `DownstreamFailed` for a task that failed."""
        contents = [*self._artifacts.values(), self._note] if self._reply is None else [self._reply]
        files = tuple(file for content in contents for file in content.files())
        return checked_result(RunResult(self._answer_text() if self._reply is None else self.text(), files))

    def _answer_text(self) -> str:
        """Artifacts, then the message of the status. Raises `DownstreamFailed`."""
        note = _joined(self._note.texts())
        if self.state in _FAILED:
            reason = f": {own_words([note], self._secret)}" if note else ""
            raise DownstreamFailed(f"{_FAILED[self.state]}{reason}", retryable=False)
        texts = [text for content in self._artifacts.values() for text in content.texts()]
        if self.needs_access:
            texts += [SIGN_IN, note, WRITE_AGAIN]
        elif note != _joined(texts):
            texts.append(note)
        if self.state == TaskState.TASK_STATE_REJECTED and not any(texts):
            return REJECTED
        return _joined(texts)

    def _named(self, task_id: str, context_id: str) -> None:
        if len(task_id) > LONGEST_ID or len(context_id) > LONGEST_ID:
            raise BadAnswer(f"an id has over {LONGEST_ID} characters")
        if self.task_id and task_id and task_id != self.task_id:
            raise BadAnswer("it tells of another task")
        self.task_id = self.task_id or task_id
        self.context_id = context_id or self.context_id

    def _set(self, status: TaskStatus) -> None:
        self.state = status.state
        self._note = _message(status.message.parts)

    def _update(self, artifact: Artifact, *, appended: bool) -> None:
        if len(artifact.artifact_id) > LONGEST_ID:
            raise BadAnswer(f"an id has over {LONGEST_ID} characters")
        content = self._artifacts.get(artifact.artifact_id) if appended else None
        if content is None:
            content = self._artifacts[artifact.artifact_id] = _Content(artifact.name)
        self._size += content.add(artifact.parts, appended=appended)
        if self._size > MAX_TEXT + MAX_ARTIFACT_BYTES:
            raise BadAnswer(
                f"its artifacts hold over {MAX_ARTIFACT_BYTES} bytes; give an url for large files"
            )


def _message(parts: Iterable[Part]) -> _Content:
    content = _Content(is_message=True)
    content.add(parts)
    return content


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(text for text in texts if text)
