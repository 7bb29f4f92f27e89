"""PPT: PowerPoint 97 to 2003: records, the directory of persistent objects, slide texts.

Facts and names are those of [MS-PPT], PowerPoint (.ppt) Binary File Format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import olefile

from adapters.outbound.knowledge.parsing.containers import title_of
from adapters.outbound.knowledge.parsing.reading import Job
from adapters.outbound.knowledge.parsing.text import one_line
from domain.knowledge.documents import Block, BlockKind


def read(job: Job) -> Iterator[Block]:
    """Slide by slide: its title as a heading, its text, the speaker's notes."""
    with olefile.OleFileIO(str(job.path)) as ole:
        presentation = Presentation(job, ole)
        slides = presentation.slides()
        if presentation.has_objects():
            job.warn("embedded objects of PPT files, such as charts, are not read")
        job.title = title_of(ole)
    job.check_pages(len(slides), "slides")
    for number, slide in enumerate(slides, start=1):
        title = next((one_line(text.text) for text in slide.texts if text.role in TITLES), "")
        path = tuple(filter(None, [title]))
        if title:
            yield Block(BlockKind.HEADING, title, heading_path=path, level=1, slide=number)
        others = (text for text in slide.texts if text.role not in TITLES or one_line(text.text) != title)
        for text in others:
            for paragraph in text.text.split("\r"):
                yield Block(BlockKind.PARAGRAPH, paragraph, heading_path=path, slide=number)
        for note in slide.notes:
            yield Block(BlockKind.NOTE, note.replace("\r", "\n"), heading_path=path, slide=number)


_HEAD = struct.Struct("<HHI")
_CONTAINER = 0xF
_ENCRYPTED_TOKEN = 0xF3D1C4DF
_MAX_DEPTH = 40
_MAX_EDITS = 10_000

DOCUMENT, SLIDE, NOTES, NOTES_ATOM = 0x03E8, 0x03EE, 0x03F0, 0x03F1
_SLIDE_PERSIST, _SLIDE_LIST = 0x03F3, 0x0FF0
_OUTLINE_REF, _TEXT_HEADER, _TEXT_CHARS, _TEXT_BYTES = 0x0F9E, 0x0F9F, 0x0FA0, 0x0FA8
_USER_EDIT, _PERSIST_DIRECTORY = 0x0FF5, 0x1772
_SLIDES, _NOTES_LIST = 0, 2
_OBJECT_LIST, _EMBEDDED = 0x0409, 0x0FCC
TITLES = frozenset({0, 6})  # Tx_TYPE_TITLE, Tx_TYPE_CENTERTITLE
_METACHARACTER = "*"


@dataclass(frozen=True, slots=True)
class Text:
    """One run of text in a placeholder or box; `role` is the TextHeaderAtom's type."""

    role: int
    text: str


@dataclass(slots=True)
class Slide:
    texts: list[Text] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Record:
    instance: int
    kind: int
    body: bytes
    is_container: bool


@dataclass(slots=True)
class _Listed:
    """A SlidePersistAtom and the outline texts behind it."""

    reference: int
    identifier: int
    outline: list[Text] = field(default_factory=list)


class Presentation:
    """One presentation. Raises the job's refusals for what is encrypted or damaged."""

    def __init__(self, job: Job, ole: Any) -> None:
        self._job = job
        user: bytes = ole.openstream("Current User").read()
        self._stream: bytes = ole.openstream("PowerPoint Document").read()
        if len(user) < 20:
            raise job.unreadable("it is damaged: its first record is cut off")
        token, edit = struct.unpack_from("<II", user, 12)
        if token == _ENCRYPTED_TOKEN:
            raise job.unreadable("it is encrypted; remove its password and upload it again")
        try:
            self._offsets, document = self._directory(edit)
            self._document = self._at(self._offsets[document])
        except (struct.error, KeyError) as error:
            raise job.unreadable("it is damaged: its directory cannot be read") from error

    def slides(self) -> list[Slide]:
        """In the order of the show."""
        slides: dict[int, Slide] = {}
        for listed in self._list(_SLIDES):
            record = self._object(listed.reference)
            shown = list(_texts(record, listed.outline, 0)) if record is not None else []
            texts = [text for text in shown if text.text != _METACHARACTER]
            slides[listed.identifier] = Slide(texts + [text for text in listed.outline if text not in shown])
        for listed in self._list(_NOTES_LIST):
            record = self._object(listed.reference)
            if record is None:
                continue
            atoms = (inner.body for inner in _records(record.body) if inner.kind == NOTES_ATOM)
            slide = slides.get(struct.unpack_from("<I", next(atoms, bytes(4)))[0])
            if slide is not None:
                texts = [*_texts(record, listed.outline, 0), *listed.outline]
                slide.notes.extend(dict.fromkeys(text.text for text in texts if text.text != _METACHARACTER))
        return list(slides.values())

    def has_objects(self) -> bool:
        lists = (record for record in _records(self._document.body) if record.kind == _OBJECT_LIST)
        return any(inner.kind == _EMBEDDED for record in lists for inner in _records(record.body))

    def _directory(self, edit: int) -> tuple[dict[int, int], int]:
        """Places of the persistent objects, those of later edits first, and the document's own reference."""
        offsets: dict[int, int] = {}
        document = 0
        for _ in range(_MAX_EDITS):
            record = self._at(edit)
            if record.kind != _USER_EDIT:
                raise KeyError(edit)
            earlier, directory, reference = struct.unpack_from("<III", record.body, 8)
            if len(record.body) >= 32 and struct.unpack_from("<I", record.body, 28)[0]:
                raise self._job.unreadable("it is encrypted; remove its password and upload it again")
            document = document or reference
            body = self._at(directory).body
            at = 0
            while at + 4 <= len(body):
                head = struct.unpack_from("<I", body, at)[0]
                first, count = head & 0xFFFFF, head >> 20
                for number, offset in enumerate(struct.unpack_from(f"<{count}I", body, at + 4)):
                    offsets.setdefault(first + number, offset)
                at += 4 + 4 * count
            if not earlier:
                break
            edit = earlier
        return offsets, document

    def _list(self, instance: int) -> Iterator[_Listed]:
        for record in _records(self._document.body):
            if record.kind != _SLIDE_LIST or record.instance != instance:
                continue
            entries: list[_Listed] = []
            role = 4
            for atom in _records(record.body):
                if atom.kind == _SLIDE_PERSIST:
                    entries.append(_Listed(*struct.unpack_from("<I8xI", atom.body)))
                elif atom.kind == _TEXT_HEADER:
                    role = struct.unpack_from("<I", atom.body)[0]
                elif entries and (text := _text_of(atom)) is not None:
                    entries[-1].outline.append(Text(role, text))
            yield from entries

    def _object(self, reference: int) -> _Record | None:
        offset = self._offsets.get(reference)
        return None if offset is None else self._at(offset)

    def _at(self, offset: int) -> _Record:
        return next(_records(self._stream, offset))


def _texts(record: _Record, outline: list[Text], depth: int) -> Iterator[Text]:
    if depth > _MAX_DEPTH:
        return
    role = 4
    for inner in _records(record.body):
        if inner.kind == _TEXT_HEADER:
            role = struct.unpack_from("<I", inner.body)[0]
        elif inner.kind == _OUTLINE_REF:
            index = struct.unpack_from("<I", inner.body)[0]
            if index < len(outline):
                yield outline[index]
        elif (text := _text_of(inner)) is not None:
            yield Text(role, text)
        elif inner.is_container:
            yield from _texts(inner, outline, depth + 1)


def _text_of(record: _Record) -> str | None:
    if record.kind == _TEXT_CHARS:
        return record.body.decode("utf-16-le", "replace").strip()
    if record.kind == _TEXT_BYTES:
        return record.body.decode("latin-1").strip()  # the low bytes of UTF-16
    return None


def _records(data: bytes, at: int = 0) -> Iterator[_Record]:
    while at + _HEAD.size <= len(data):
        version, kind, length = _HEAD.unpack_from(data, at)
        body = data[at + _HEAD.size : at + _HEAD.size + length]
        yield _Record(version >> 4, kind, body, version & 0xF == _CONTAINER)
        at += _HEAD.size + length
