"""Values of the message's way to JSON text and back."""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

from adapters import trace_context
from domain.channels import context, messages
from domain.channels.answers import Answer, Artifact, Choice
from domain.channels.model import Proof
from domain.channels.provenance import Citation, FailedResource, Provenance, Usage
from domain.channels.rich import form_json, rich_json
from domain.channels.rich_reading import read_rich
from domain.conversations.choices import Offer
from domain.conversations.forms import OpenForm
from domain.conversations.rich_text import with_text
from domain.refusals import INTERNAL
from ports.queue import CallResult

T = TypeVar("T")

log = logging.getLogger(__name__)

LONGEST_KEY = 200
HASHED = "sha256:"
ERASED = HASHED
"""The session key of events without texts: no session has it, as `key_of` gives it to none."""
LONGEST_REASON = 2000
"""Characters that are kept of a reason."""


def key_of(text: str) -> str:
    """A key that an index can hold: the text itself, or its hash when it is long or has characters that are not
    printable, as NUL and lone surrogates.

    Every text from outside goes through it before it enters a column that is indexed, and so does what is compared
    with it. An index row of PostgreSQL holds about 2,700 bytes; a text that looks like a hash is hashed as well, so
    that nobody can name the key of another text.
    """
    if len(text) <= LONGEST_KEY and text.isprintable() and not text.startswith(HASHED):
        return text
    return HASHED + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def storable(text: str) -> str:
    """The text without what PostgreSQL cannot hold: NUL, and lone surrogates, which become U+FFFD."""
    return _whole(text.replace("\0", ""))


def storable_reason(text: str) -> str:
    """Why something failed, as it is kept: the beginning of what may be a platform's whole answer."""
    return storable(text[:LONGEST_REASON])


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def dump(value: Any) -> str:
    """JSON text. Lone surrogates, which no UTF-8 can carry, become U+FFFD."""
    return dump_bytes(value).decode()


def dump_bytes(value: Any) -> bytes:
    """The same in UTF-8."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return orjson.dumps(_mended(value), option=orjson.OPT_NON_STR_KEYS)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, Mapping):
        return {_mended(key): _mended(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mended(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return str(value)
    return value


def event_to_json(event: messages.Event, request_id: str) -> bytes:
    """The event under a request id, which may be another than its own."""
    sender, quoted = event.sender, event.quoted
    document: dict[str, Any] = {
        "session": event.session_id,
        "sender": sender.external_id,
        "text": event.text,
        "target": event.target,
        "request": request_id,
    }
    stored_unless_empty: dict[str, Any] = {
        "reaction": event.reaction,
        "reacted_ref": event.reacted_ref,
        "own_id": event.message_id,
        "change": event.change,
        "again": event.new_if_answered,
        "name": sender.display_name,
        "identities": [[identity.field, identity.value] for identity in sender.identities],
        "proof": "" if sender.proof is Proof.OWNER else sender.proof,
        "files": _files(event.attachments),
        "choice": event.choice,
        "claimed": event.claims_choice,
        "canned": event.canned_reply,
        "awaits": event.awaits_reply,
        "group": not event.is_direct,
        "unreadable": event.unreadable,
        "merge": event.merge and [event.merge.key, event.merge.place],
        "ids": event.ids,
        "ids_of_session": event.ids_of_session,
        "automated": event.automated,
        "correspondent": event.correspondent,
        "separate_session": event.separate_session_id,
        "only_decides": event.only_decides,
        "quoted": quoted and _quoted_to_document(quoted),
        "thread_post": event.thread_post,
        "written": event.written_at and event.written_at.timestamp(),
        "refused": event.refused,
        "context": event.context and context.bounded(event.context),
        "raw": event.raw,
        "trace": event.trace or trace_context.current(),
        "key": event.key,
    }
    document.update({name: value for name, value in stored_unless_empty.items() if value})
    if event.form_input is not None:
        document["form"] = event.form_input
    return dump_bytes(document)


def _known(kind: type[T], stored: Sequence[Any]) -> T:
    """A value from its fields in order, without those that a newer version has added."""
    return kind(*stored[: len(fields(kind))])  # type: ignore[arg-type]


def _files(attachments: tuple[messages.Attachment, ...]) -> list[list[Any]]:
    return [
        [file.name, file.mime_type, file.source, file.size, *([True] if file.is_voice else [])]
        for file in attachments
    ]


def _attachments(files: Iterable[list[Any]]) -> tuple[messages.Attachment, ...]:
    return tuple(_known(messages.Attachment, stored) for stored in files)


def _quoted_to_document(quoted: messages.Quoted) -> dict[str, Any]:
    document = {
        "text": quoted.text[: messages.LONGEST_QUOTED],
        "author": quoted.author,
        "attachments": _files(quoted.attachments),
        "ref": quoted.ref,
        "key": quoted.key,
        "session": quoted.session,
    }
    return {name: value for name, value in document.items() if value}


def _quoted_from_document(document: Mapping[str, Any]) -> messages.Quoted:
    known = {field.name: document[field.name] for field in fields(messages.Quoted) if field.name in document}
    return messages.Quoted(**{**known, "attachments": _attachments(document.get("attachments", ()))})


def event_from_json(text: str | bytes) -> messages.Event:
    document = orjson.loads(text)
    written = document.get("written")
    return messages.Event(
        key=document.get("key"),
        session_id=document["session"],
        sender=messages.Sender(
            document["sender"],
            document.get("name", ""),
            tuple(_known(messages.Identity, stored) for stored in document.get("identities", ())),
            Proof(document.get("proof", Proof.OWNER)),
        ),
        text=document["text"],
        target=document["target"],
        attachments=_attachments(document.get("files", ())),
        choice=document.get("choice"),
        claims_choice=document.get("claimed", False),
        canned_reply=document.get("canned"),
        awaits_reply=document.get("awaits", False),
        request_id=document["request"],
        is_direct=not document.get("group", False),
        unreadable=document.get("unreadable", ""),
        merge=_known(messages.Merge, document["merge"]) if "merge" in document else None,
        ids=tuple(document.get("ids", ())),
        ids_of_session=document.get("ids_of_session", False),
        automated=document.get("automated", False),
        correspondent=document.get("correspondent", ""),
        separate_session_id=document.get("separate_session", ""),
        only_decides=document.get("only_decides", False),
        quoted=_quoted_from_document(document["quoted"]) if "quoted" in document else None,
        thread_post=document.get("thread_post", ""),
        reaction=document.get("reaction", ""),
        reacted_ref=document.get("reacted_ref", ""),
        message_id=document.get("own_id", ""),
        change=messages.Change(document["change"]) if "change" in document else None,
        new_if_answered=document.get("again", False),
        written_at=None if written is None else datetime.fromtimestamp(written, UTC),
        refused=document.get("refused", ""),
        context=document.get("context", {}),
        form_input=document.get("form"),
        raw=document.get("raw", {}),
        trace=document.get("trace", ""),
    )


def stored_event(stored: str) -> messages.Event:
    """A row that cannot be read concerns its own conversation: its event says why."""
    try:
        return event_from_json(stored)
    except Exception:
        log.exception("a stored message cannot be read")
        reason = f"the stored message cannot be read: {INTERNAL}"
        return messages.Event(None, "", messages.Sender(""), "", {}, unreadable=reason)


def open_form_to_json(opened: OpenForm) -> str:
    return dump(
        {
            "form": form_json(opened.form),
            "reference": opened.reference,
            "of": opened.asked_of,
            "by": opened.asked_by,
            "expires": opened.expires_at.timestamp(),
            "values": dict(opened.values),
            "position": opened.position,
            "tries": opened.tries,
            "native": opened.is_native,
            "resource": opened.resource,
        }
    )


def stored_open_form(stored: str) -> OpenForm | None:
    """Returns None for a form that cannot be read: its answers are messages like any other."""
    try:
        document = orjson.loads(stored)
        content = read_rich(document)
        if content is None or content.form is None:
            return None
        return OpenForm(
            content.form,
            document["reference"],
            document["of"],
            document["by"],
            datetime.fromtimestamp(document["expires"], UTC),
            document["values"],
            document["position"],
            document["tries"],
            document["native"],
            document["resource"],
        )
    except Exception:
        log.exception("a stored form cannot be read")
        return None


def answer_to_document(answer: Answer) -> dict[str, Any]:
    return {
        "text": answer.text,
        "artifacts": [
            {
                "name": artifact.name,
                "mimeType": artifact.mime_type,
                "url": artifact.url,
                "blob": artifact.blob,
                "size": artifact.size,
            }
            for artifact in answer.artifacts
        ],
        "choices": [[choice.label, choice.value, choice.reference] for choice in answer.choices],
        **({"rich": rich_json(answer.rich)} if answer.rich else {}),
        **({"form": answer.form_reference} if answer.form_reference else {}),
        **({"question": answer.question} if answer.question else {}),
        **({"usage": [answer.usage.input_tokens, answer.usage.output_tokens]} if answer.usage else {}),
        "request": answer.request_id,
        "session": answer.session_id,
    }


MOST_CITATIONS = 20
LONGEST_QUOTE = 500
"""What is kept of the passages that an answer stands on."""
LONGEST_FAILURE = 500
"""What is kept of the reason why another resource gave no answer."""


def content_of(answer: Answer) -> dict[str, Any]:
    """What a message says and who wrote it, as it is kept for the history of its conversation, with rich content as
    text. A file of which we hold a copy is kept by its key: its address expires. The provenance stands first:
    timelines read the beginning alone."""
    answer = with_text(answer)
    return {
        **_provenance_of(answer.provenance),
        "text": answer.text,
        "files": [
            {
                "name": artifact.name,
                "mimeType": artifact.mime_type,
                "size": artifact.size,
                **({"blob": artifact.blob} if artifact.blob else {"url": artifact.url}),
            }
            for artifact in answer.artifacts
        ],
        "choices": [
            {
                "label": choice.label,
                "value": choice.value,
                **({"reference": choice.reference} if choice.reference else {}),
            }
            for choice in answer.choices
        ],
        **({"thumbs": answer.thumbs} if answer.thumbs else {}),
        "author": answer.author,
    }


def _provenance_of(provenance: Provenance | None) -> dict[str, Any]:
    if provenance is None:
        return {}
    failures = [[failed.resource, failed.reason[:LONGEST_FAILURE]] for failed in provenance.failures]
    stored = {"resource": provenance.resource, "route": provenance.route, "failures": failures}
    document: dict[str, Any] = {"provenance": {name: value for name, value in stored.items() if value}}
    if provenance.citations:
        document["citations"] = [
            [
                cited.index,
                cited.chunk_id,
                cited.file_name,
                cited.page,
                cited.quote[:LONGEST_QUOTE],
                cited.place,
            ]
            for cited in provenance.citations[:MOST_CITATIONS]
        ]
    return document


def provenance_from_document(content: Mapping[str, Any]) -> Provenance | None:
    """Returns None if no resource was asked, or an earlier version stored the answer."""
    stored = content.get("provenance")
    if stored is None:
        return None
    return Provenance(
        stored.get("resource", ""),
        stored.get("route", ""),
        tuple(_known(FailedResource, failed) for failed in stored.get("failures", ())),
        tuple(_known(Citation, cited) for cited in content.get("citations", ())),
    )


LONGEST_BEGINNING = 40_000
_BEGINNING = '{"provenance":'
"""How a stored answer with a provenance begins."""


def provenance_from_beginning(text: str | None) -> Provenance | None:
    """The provenance in the first `LONGEST_BEGINNING` characters of a stored answer, without passages."""
    if not text or not text.startswith(_BEGINNING):
        return None
    stored, _ = json.JSONDecoder().raw_decode(text, len(_BEGINNING))
    return provenance_from_document({"provenance": stored})


def files_of(content: Mapping[str, Any]) -> tuple[Artifact, ...]:
    """The files of `content_of`; one of which we hold a copy has no address."""
    return tuple(
        Artifact(file["name"], file["mimeType"], file.get("url", ""), file.get("blob"), file["size"])
        for file in content.get("files", ())
    )


def offer_from_json(text: str) -> Offer:
    """What such a message said and offered."""
    document = orjson.loads(text)
    choices = (
        Choice(item["label"], item["value"], item.get("reference", "")) for item in document["choices"]
    )
    return Offer(document["text"], tuple(choices), document.get("provenance", {}).get("resource", ""))


def answer_from_document(document: Mapping[str, Any]) -> Answer:
    return Answer(
        text=document["text"],
        artifacts=tuple(
            Artifact(*(stored[name] for name in ("name", "mimeType", "url", "blob", "size")))
            for stored in document["artifacts"]
        ),
        choices=tuple(_known(Choice, stored) for stored in document["choices"]),
        rich=read_rich(document["rich"]) if "rich" in document else None,
        form_reference=document.get("form", ""),
        question=document.get("question", ""),
        usage=Usage(*document["usage"]) if "usage" in document else None,
        request_id=document["request"],
        session_id=document["session"],
    )


def result_to_json(result: CallResult, parts: list[Mapping[str, Any]], target: Mapping[str, Any]) -> str:
    """A waiting call's result; parts and target lie beside it for when nobody takes it."""
    answer = answer_to_document(result.answer) if result.answer else None
    return dump({"outcome": result.outcome, "answer": answer, "parts": parts, "target": target})


def result_from_json(text: str) -> CallResult:
    document = orjson.loads(text)
    answer = document["answer"]
    return CallResult(
        messages.CallOutcome(document["outcome"]), answer_from_document(answer) if answer else None
    )
