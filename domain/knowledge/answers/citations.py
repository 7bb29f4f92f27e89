"""Passages with numbers, and the marks `[1]` by which an answer cites them. Pure."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from domain.knowledge.function_words import FUNCTION_WORDS
from domain.knowledge.model import SearchResult
from domain.knowledge.places import page_of, place_of
from domain.knowledge.text_units import SENTENCE_END
from domain.knowledge.words import words
from domain.routing.model import Citation

MOST_QUOTE = 400
"""Characters of a quote."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_NUMBERS = r"\d{1,3}(?:\s{0,3}[,;\u2013-]\s{0,3}\d{1,3}){0,9}"
_LONGEST_RANGE = 30
"""Numbers in a mark such as `[2-4]`: more passages there are in no answer."""
_MARK = re.compile(
    r"(?P<gap>(?:(?<![ \t])[ \t]+)?)"
    rf"(?:\[\^?(?P<plain>{_NUMBERS})\]|\u3010(?P<wide>{_NUMBERS})[^\u3011\n]{{0,80}}\u3011)"
    r"(?:\([^()\s]*\))?"
)
"""Marks as models write them: `[1]`, `[1, 3]`, `[2-4]`, `[^1]`, in wide brackets, as a link."""
_LINK_DEFINITION = re.compile(r"^ {0,3}\[\^?\d{1,3}\]:[ \t]*\S+(?:[ \t]+[\"'(].*)?$\n?", re.MULTILINE)
_SOURCE = r"(?:(?:[-*\u2022]|\d{1,3}[.)])[ \t]+)?(?:\[\^?\d{1,3}[\],\u2013-]|\u3010|.{0,200}\w\.[A-Za-z]\w{1,4}\b).*"
"""A line of a list of sources: a mark, or something like the name of a file."""
_LIST_HEADING = re.compile(
    r"[\s#*_>-]*(?:sources?|references?|citations?|quellen?|fuentes?|r\u00e9f\u00e9rences|\u0627\u0644\u0645\u0635\u0627\u062f\u0631)"
    rf"[*_]{{0,3}}[ \t]{{0,3}}:?[*_]{{0,3}}\s{{0,3}}(?:{_SOURCE})?",
    re.IGNORECASE,
)
_LONGEST_LISTED = 1000
"""Characters of a line in a list of sources."""
_LISTED = re.compile(rf"\s*(?:{_SOURCE})?")
_MARK_IN_A_DOCUMENT = re.compile(r"\[(\^?\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*)\](?!\s*[=;+*/<>\[(]|\.\w)")
_MARKUP = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])")

_HEADING = re.compile(
    r"\s*(?:#{1,6} [^\n]*|[^\n:|=\t]{0,79}[^\n:|=\t.!?\u3002\uff01\uff1f\u061f\u0964\s])\s*\n\s*\n\s*"
)
"""A short paragraph of one line that does not end as a sentence does, with something behind it."""


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A chunk under the number by which an answer cites it. `place` says where it stands, as in "page 3"."""

    number: int
    base_id: int
    chunk_id: str
    file_name: str
    page: int | None
    place: str
    text: str = ""


class Passages:
    """The passages of one answer. The same chunk keeps its number, however often it is found."""

    def __init__(self) -> None:
        self._passages: dict[str, NumberedPassage] = {}

    def add(self, base_id: int, result: SearchResult) -> NumberedPassage:
        known = self._passages.get(result.chunk_id)
        metadata = result.metadata
        return known or self.restore(
            NumberedPassage(
                1 + max((passage.number for passage in self._passages.values()), default=0),
                base_id,
                result.chunk_id,
                result.file_name,
                page_of(metadata),
                place_of(metadata),
                result.text,
            )
        )

    def restore(self, passage: NumberedPassage) -> NumberedPassage:
        """Adds one that has its number already."""
        self._passages[passage.chunk_id] = passage
        return passage

    def cited_by(self, text: str) -> tuple[str, tuple[Citation, ...]]:
        """An answer without marks that point to no passage and without a list of sources of its own; and what it
        cites, in the order of the numbers."""
        known = {passage.number: passage for passage in self._passages.values()}
        checked = _with_marks(without_list(text), lambda number: f"[{number}]" if number in known else "")
        said = _said(checked)
        return checked, tuple(_citation(known[number], said[number]) for number in sorted(said))

    def citations(self, said: str) -> tuple[Citation, ...]:
        """All of them, as sources of the same text."""
        return tuple(_citation(passage, said) for passage in self._passages.values())


def _citation(passage: NumberedPassage, said: str) -> Citation:
    quote = best_quote(passage.text, said)
    where = passage.chunk_id, passage.file_name, passage.page, quote, passage.place
    return Citation(passage.number, *where)


def without_marks(text: str) -> str:
    """An answer without any marks: the numbers mean nothing outside of it."""
    return _with_marks(without_list(text), lambda _: "")


def _with_marks(text: str, mark: Callable[[int], str]) -> str:
    """The text with each number that is cited as `mark` has it. Code stays as it is."""

    def marked(match: re.Match[str]) -> str:
        if _is_interval(match):
            return match[0]
        marks = "".join(dict.fromkeys(map(mark, _numbers(match))))
        return match["gap"] + marks if marks else ""

    def prose(part: str) -> str:
        return _MARK.sub(marked, _LINK_DEFINITION.sub("", part))

    return _outside_code(text, prose).rstrip()


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    edges = [0, *(edge for match in _CODE.finditer(text) for edge in match.span()), len(text)]
    parts = [text[start:end] for start, end in pairwise(edges)]
    return "".join(part if at % 2 else change(part) for at, part in enumerate(parts))


def _numbers(mark: re.Match[str]) -> Iterator[int]:
    for piece in re.split("[,;]", mark["plain"] or mark["wide"]):
        first, *last = map(int, re.split("[\u2013-]", piece))
        yield from range(first, min((last or [first])[0], first + _LONGEST_RANGE) + 1)


def _is_interval(mark: re.Match[str]) -> bool:
    """Whether it is a stretch of numbers, as in "a share in [0, 1]": passages are counted from 1."""
    numbers = list(_numbers(mark))
    return 0 in numbers and len(numbers) > 1


def without_list(text: str) -> str:
    """The text without a list of sources at its end: the true one is made from what is cited."""
    lines = text.rstrip().split("\n")
    start = end = len(lines)
    while start:
        start -= 1
        if len(lines[start]) > _LONGEST_LISTED:
            break
        if _LIST_HEADING.fullmatch(lines[start].rstrip()):
            end = start
        elif not _LISTED.fullmatch(lines[start]):
            break
    return "\n".join(lines[:end]).rstrip()


def _said(text: str) -> Mapping[int, str]:
    """The sentences in which each passage is cited."""
    said: dict[int, list[str]] = {}
    last = ""
    text = _CODE.sub(lambda code: " " * len(code[0]), text)
    for start, end in _sentences(text):
        sentence = _MARK.sub("", text[start:end])
        last = sentence if words(sentence) else last  # marks may stand behind the full stop
        for match in _MARK.finditer(text, start, end):
            for number in () if _is_interval(match) else _numbers(match):
                said.setdefault(number, []).append(last)
    return {number: " ".join(sentences) for number, sentences in said.items()}


def best_quote(text: str, said: str) -> str:
    """The sentence of a passage that shares most with what is said of it; long and rare words count most, and of
    equal ones the longer. A heading only where nothing else shares a telling word."""
    sentences = [text[start:end] for start, end in _sentences(text)]
    held = [frozenset(words(sentence)) for sentence in sentences]
    common = Counter(word for found in held for word in found)
    wanted = frozenset(words(said))

    def worth(at: int) -> tuple[bool, float, int]:
        shared = held[at] & wanted
        tells = not shared <= FUNCTION_WORDS and not _HEADING.fullmatch(sentences[at])
        return tells, sum(len(word) / common[word] for word in sorted(shared)), len(shared and sentences[at])

    best = max(range(len(sentences)), key=worth, default=None)
    return "" if best is None else clipped(sentences[best].strip())


def clipped(text: str) -> str:
    if len(text) <= MOST_QUOTE:
        return text
    return text[:MOST_QUOTE].rsplit(None, 1)[0]


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text stand; the lines of one that is too long for a quote."""
    for start, end in _cut(text, 0, len(text), SENTENCE_END):
        if end - start <= MOST_QUOTE:
            yield start, end
        else:
            yield from _cut(text, start, end, re.compile(r"\n"))


def _cut(text: str, start: int, end: int, ends: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    edges = sorted({start, *(match.end() for match in ends.finditer(text, start, end)), end})
    return ((first, last) for first, last in pairwise(edges) if text[first:last].strip())


def data_text(text: str) -> str:
    """The text of a passage as it is shown to a model: marks of its own do not look like those of an answer. What
    looks like an index in code stays."""
    return _MARK_IN_A_DOCUMENT.sub(r"(\1)", text).replace("\u3010", "(").replace("\u3011", ")")


def sources(citations: Iterable[Citation]) -> str:
    """The list that an answer ends with, in Markdown."""
    listed = (
        f"[{citation.index}] " + ", ".join(map(_escaped, filter(None, (citation.file_name, citation.place))))
        for citation in citations
    )
    return f"Sources: {'; '.join(listed)}"


def _escaped(name: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", " ".join(name.split()))


def as_json(passages: Iterable[NumberedPassage], note: str) -> str:
    """Passages as a model reads them: nothing in a text can end the string that it stands in."""
    shown = [
        {
            "number": passage.number,
            "file": data_text(passage.file_name),
            **({"place": data_text(passage.place)} if passage.place else {}),
            "text": data_text(passage.text),
        }
        for passage in passages
    ]
    return json.dumps({"note": note, "passages": shown}, ensure_ascii=False)
