"""EML and MSG: the header that people read, the text, then the attachments, each as a file of its format."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from adapters.outbound.knowledge.parsing.detection import detect
from adapters.outbound.knowledge.parsing.formats import reader
from adapters.outbound.knowledge.parsing.readers import internet_mail
from adapters.outbound.knowledge.parsing.readers.html import read_markup
from adapters.outbound.knowledge.parsing.readers.internet_mail import Attachment, MailMessage
from adapters.outbound.knowledge.parsing.readers.plain_text import paragraphs
from adapters.outbound.knowledge.parsing.reading import LABELS, Job, refused, shown
from domain.knowledge.documents import Block, BlockKind, Format
from domain.refusals import Unsupported

_DEEPEST = 5
"""Messages in messages that are read."""
_MESSAGES = frozenset({Format.EML, Format.MSG})
_UNTITLED = "message"


def read(job: Job) -> Iterator[Block]:
    message = _loaded(job)
    job.title = message.subject
    return _blocks(job, message, 0)


def _loaded(job: Job) -> MailMessage:
    if job.format is Format.EML:
        return internet_mail.load(job.path)
    from adapters.outbound.knowledge.parsing.readers import outlook

    return outlook.load(job.path)


def _blocks(job: Job, message: MailMessage, depth: int) -> Iterator[Block]:
    yield Block(BlockKind.FIELD, "\n".join(f"{name}: {value}" for name, value in message.fields))
    yield from body(job, message)
    if message.remark:
        job.warn(message.remark)
        yield Block(BlockKind.NOTE, message.remark)
    for position, attachment in enumerate(message.attachments, start=1):
        yield from _attached(job, attachment, depth + 1)
        if not depth:
            job.progress(position / len(message.attachments))


def body(job: Job, message: MailMessage) -> Iterator[Block]:
    """The text of a message, without its header and attachments."""
    if message.text.strip():
        yield from paragraphs(message.text)
    elif message.markup.strip():
        with refused(job.name, LABELS[Format.HTML]) as refusals:
            yield from read_markup(job, message.markup)
        for refusal in refusals:
            job.warn(refusal.message)
            yield Block(BlockKind.NOTE, refusal.message)


def _attached(job: Job, attachment: Attachment | MailMessage, depth: int) -> Iterator[Block]:
    """An attachment under its name. One that cannot be read is named in a note, and the rest is read."""
    if isinstance(attachment, MailMessage):
        name = shown(attachment.subject or _UNTITLED)
        blocks = _blocks(job, attachment, depth)
    else:
        name = shown(attachment.name)
        blocks = _file(job, attachment, name, depth)
    yield Block(BlockKind.HEADING, name, heading_path=(name,), level=1)
    with refused(name, "an attachment") as refusals:
        if depth > _DEEPEST:
            raise job.too_large(f"it holds messages in messages, more than {_DEEPEST} deep")
        for block in blocks:
            yield replace(block, heading_path=(name, *block.heading_path))
    for refusal in refusals:
        remark = f"{name} was not read" if isinstance(refusal, Unsupported) else refusal.message
        job.warn(remark)
        yield Block(BlockKind.NOTE, remark, heading_path=(name,))


def _file(job: Job, attachment: Attachment, name: str, depth: int) -> Iterator[Block]:
    """The blocks of an attached file, which lies in the scratch folder until the next one comes."""
    if attachment.data is None:
        raise job.unreadable("the attachment is not in the message")
    if len(attachment.data) > job.limits.file_bytes:
        raise job.too_large(f"an attachment has more than {job.limits.file_bytes // 2**20} MB")
    path = Path(os.environ["TMPDIR"]) / f"attachment-{depth}"
    path.write_bytes(attachment.data)
    format_ = detect(path, name, job.limits)
    inner = replace(job, path=path, name=name, format=format_, progress=lambda share: None, warnings=[])
    if format_ in _MESSAGES:
        yield from _blocks(inner, _loaded(inner), depth)
    else:
        yield from reader(format_)(inner)
    for warning in inner.warnings:
        job.warn(f"{name}: {warning}")
