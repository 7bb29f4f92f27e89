"""Passages with numbers, and the citations of an answer. Pure.

A model's text is worked on in time that grows with its length alone, whatever it holds.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import pairwise

from domain.channels.provenance import Citation
from domain.knowledge.chunking import SENTENCE_END
from domain.knowledge.marks import (
    CODE,
    MARK,
    addresses,
    cited,
    data_text,
    stretches,
    with_marks,
    without_lists,
    without_pictures,
)
from domain.knowledge.model import SearchResult
from domain.knowledge.places import page_of, place_of
from domain.knowledge.words import FUNCTION_WORDS, words

MOST_QUOTE = 400
"""Characters of a quote, and of a heading above a passage."""
MOST_SAID = 20
"""Sentences citing a passage by which its quote is chosen."""

_LINE_END = re.compile(r"\n")
_MARKUP = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])")
_HEADING = re.compile(
    r"\s*(?:#{1,6} [^\n]*|[^\n:|=\t]{0,79}[^\n:|=\t.!?\u3002\uff01\uff1f\u061f\u0964\s])\s*\n\s*\n\s*"
)
"""A short paragraph of one line that does not end as a sentence does, with something behind it."""


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A chunk under the number by which an answer cites it. `place` says where it stands, as in "page 3"; `title` and
    `headings` are those above it in its document."""

    number: int
    base_id: int
    chunk_id: str
    file_name: str
    page: int | None
    place: str
    text: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()


class Passages:
    """The passages of one answer. The same chunk keeps its number, however often it is found."""

    def __init__(self) -> None:
        self._passages: dict[str, NumberedPassage] = {}

    def __len__(self) -> int:
        return len(self._passages)

    def add(self, base_id: int, result: SearchResult) -> NumberedPassage:
        known = self._passages.get(result.chunk_id)
        metadata, place = result.metadata, result.place
        return known or self.restore(
            NumberedPassage(
                1 + max((passage.number for passage in self._passages.values()), default=0),
                base_id,
                result.chunk_id,
                result.file_name,
                page_of(metadata),
                place_of(metadata),
                result.text,
                place.title or "",
                tuple(place.heading_path),
            )
        )

    def restore(self, passage: NumberedPassage) -> NumberedPassage:
        """Adds one that has its number already."""
        self._passages[passage.chunk_id] = passage
        return passage

    def cited_by(self, text: str) -> tuple[str, tuple[Citation, ...]]:
        """An answer without marks that point to no passage, and without lists of sources and pictures that the model
        made up; and what it cites, in the order of the numbers."""
        known = {passage.number: passage for passage in self._passages.values()}
        marked = with_marks(without_lists(text), lambda number: f"[{number}]" if number in known else "")
        own = {address for passage in known.values() for address in addresses(passage.text)}
        checked = without_pictures(marked, own)
        said = _said(checked, known.keys())
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
    return with_marks(without_lists(text), lambda _: "")


def _said(text: str, known: Set[int]) -> Mapping[int, str]:
    """The sentences in which each of these passages is cited, at most `MOST_SAID` of each."""
    text = CODE.sub(lambda code: " " * len(code[0]), text)
    said: dict[int, list[str]] = {}
    last = ""
    for stretch in stretches(text):
        numbers = set(cited(stretch)).intersection(known)
        said |= {number: [] for number in numbers if number not in said}
        if all(len(said[number]) == MOST_SAID for number in numbers):
            continue
        for start, end in _sentences(stretch):
            sentence = MARK.sub("", stretch[start:end])
            last = sentence if words(sentence) else last  # marks may stand behind the full stop
            for number in numbers.intersection(cited(stretch, start, end)):
                if len(said[number]) < MOST_SAID:
                    said[number].append(last)
    return {number: " ".join(sentences) for number, sentences in said.items()}


def best_quote(text: str, said: str) -> str:
    """The sentence of a passage that shares most with what is said of it; long and rare words count most, and of
    equal ones the longer. A heading only where nothing else shares a telling word."""
    sentences = [text[start:end] for start, end in _sentences(text)]
    held = [frozenset(words(sentence)) for sentence in sentences]
    common = Counter(word for word_set in held for word in word_set)
    said_words = frozenset(words(said))

    def worth(at: int) -> tuple[bool, float, int]:
        shared = held[at] & said_words
        tells = not shared <= FUNCTION_WORDS and not _HEADING.fullmatch(sentences[at])
        return tells, sum(len(word) / common[word] for word in sorted(shared)), len(shared and sentences[at])

    best = max(range(len(sentences)), key=worth, default=None)
    return "" if best is None else sentences[best].strip()


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text stand; of one that is too long for a quote its lines, in stretches that are no
    longer than a quote, cut at blanks where there are any."""
    for start, end in _cut(text, 0, len(text), SENTENCE_END):
        if end - start <= MOST_QUOTE:
            yield start, end
            continue
        for at, last in _cut(text, start, end, _LINE_END):
            begin = at
            while begin < last:
                after = min(last, begin + MOST_QUOTE)
                blank = text.rfind(" ", begin + 1, after) if after < last else -1
                after = after if blank < 0 else blank + 1
                if text[begin:after].strip():
                    yield begin, after
                begin = after


def _cut(text: str, start: int, end: int, ends: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    edges = sorted({start, *(match.end() for match in ends.finditer(text, start, end)), end})
    return ((first, last) for first, last in pairwise(edges) if text[first:last].strip())


def sources(citations: Iterable[Citation]) -> str:
    """The list that an answer ends with, in Markdown."""
    listed = (
        f"[{citation.index}] " + ", ".join(map(escaped, filter(None, (citation.file_name, citation.place))))
        for citation in citations
    )
    return f"Sources: {'; '.join(listed)}"


def escaped(name: str) -> str:
    """The name of a file in Markdown, on one line."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(name.split()))


def as_json(passages: Iterable[NumberedPassage], note: str) -> str:
    """Passages as a model reads them: nothing in a text can end the string that it stands in."""
    shown = []
    for passage in passages:
        above = {
            "place": data_text(passage.place),
            "title": data_text(passage.title[:MOST_QUOTE]),
            "headings": [data_text(heading[:MOST_QUOTE]) for heading in passage.headings],
        }
        known = {name: value for name, value in above.items() if value}
        file, text = data_text(passage.file_name), data_text(passage.text)
        shown.append({"number": passage.number, "file": file, **known, "text": text})
    return json.dumps({"note": note, "passages": shown}, ensure_ascii=False)
