"""Reading a knowledge base: a file's text with its chunks, the search playground, and answers to questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, nan
from operator import itemgetter
from typing import Any

from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.pages.knowledge import BASE, base_of, base_path, of_base
from adapters.inbound.console.requests import ConsoleRequest, faults_of, render
from adapters.inbound.rest.asgi import while_connected
from adapters.inbound.rest.errors import status_of
from domain.knowledge.model import Base, FileText
from domain.knowledge.places import known_of, place_of
from domain.knowledge.ranking import ExplainedHit
from domain.knowledge.rules import Mode, SearchOptions, check_options, mode_of
from domain.limits import QUESTION
from domain.refusals import Fault, Invalid, NotFound, TooMany, Unavailable

OPTIONS = ("topK", "perFile", "minSimilarity", "mode")
MODES = (
    (Mode.HYBRID, "by words and by meaning"),
    (Mode.TEXT, "by words alone"),
    (Mode.VECTOR, "by meaning alone"),
)
CHUNKS = 25
"""Chunks on one page of a text."""
BEGINNING = 90
"""Characters of a chunk in the lists of what each search found alone."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a text in which the same chunks stand: `first` are those that begin here, as number and place."""

    text: str
    first: Sequence[tuple[int, str]]
    chunks: Sequence[int]


async def text(request: ConsoleRequest) -> Response:
    base = await base_of(request)
    at = request.query_params.get("at", "0")
    if not (at.isascii() and at.isdigit() and len(at) < 10):
        raise Invalid.of([Fault("at", "must be the number of a chunk")])
    offset = int(at) // CHUNKS * CHUNKS
    file = request.path_params["file"]
    text_ = await request.services.base_files.text(request.caller, base.id, file, CHUNKS, offset)
    if offset and offset >= text_.page.total:
        raise NotFound(f"this text has {text_.page.total} chunks only")
    context = {
        "file": text_.file,
        "page": text_.page,
        "address": f"{base_path(base.id)}/files/{text_.file.hash}",
        "chunks": CHUNKS,
        "stretches": stretches(text_),
        "found": text_,
    }
    return render(request, "knowledge_text.html", of_base(base, **context))


def stretches(text: FileText) -> list[Stretch]:
    """The text cut where chunks begin and end. Chunks may overlap: a short last sentence opens the next one too."""
    placed = [
        (place.start - text.start, place.end - text.start, place)
        for place in text.chunks
        if place.start is not None and place.end is not None
    ]
    edges = sorted({0, len(text.text), *(edge for start, end, _ in placed for edge in (start, end))})
    cuts = [edge for edge in edges if 0 <= edge <= len(text.text)]
    return [
        Stretch(
            text.text[start:end],
            [(place.position, place_of(place.metadata)) for first, _, place in placed if first == start],
            [place.position for first, last, place in placed if first <= start < last],
        )
        for start, end in pairwise(cuts)
    ]


async def search(request: ConsoleRequest) -> Response:
    base, asked = await base_of(request), request.query_params
    query, explanation, faults = asked.get("q", ""), None, {}
    if "q" in asked:
        try:
            options = _options(asked)
            explanation = await request.services.search.explain(request.caller, base.id, query, options)
        except Invalid as refusal:
            faults = faults_of(refusal)
    hits = [_hit(hit, base_path(base.id)) for hit in explanation.hits] if explanation else []
    values: dict[str, Any] = {
        "query": query,
        "faults": faults,
        "explanation": explanation,
        "given": {name: asked.get(name, "") for name in OPTIONS},
        "files": asked.getlist("fileIds"),
        "modes": MODES,
        "answer": [hit for hit in hits if hit["rank"]],
        "alone": {"by_text": _by_rank(hits, "text_rank"), "by_meaning": _by_rank(hits, "vector_rank")},
    }
    return render(request, "knowledge_search.html", of_base(base, **values), status=400 if faults else 200)


def _options(given: QueryParams) -> SearchOptions:
    """Raises `Invalid`."""
    per_file = given.get("perFile")
    options = SearchOptions(
        _whole_number("topK", given.get("topK") or "10"),
        _number("minSimilarity", given.get("minSimilarity") or "0"),
        tuple(given.getlist("fileIds")),
        _whole_number("perFile", per_file) if per_file else None,
        mode_of(given.get("mode") or Mode.HYBRID),
    )
    check_options(options)
    return options


def _whole_number(field: str, text: str) -> int:
    number = _number(field, text)
    if not number.is_integer():
        raise Invalid.of([Fault(field, "must be a whole number")])
    return int(number)


def _number(field: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise Invalid.of([Fault(field, "must be a number")])
    return number


def _by_rank(hits: Sequence[Mapping[str, Any]], rank: str) -> list[Mapping[str, Any]]:
    return sorted((hit for hit in hits if hit[rank]), key=itemgetter(rank))


def chunk_address(path: str, file_hash: str, metadata: str | None) -> str:
    """Where a chunk is seen in the text of its file."""
    position = known_of(metadata).get("position", 0)
    return f"{path}/files/{file_hash}?at={position}#chunk-{position}"


def _hit(hit: ExplainedHit, path: str) -> dict[str, Any]:
    names = ("rank", "text_rank", "vector_rank", "similarity", "text_score", "vector_score", "file_name")
    return {
        **{name: getattr(hit, name) for name in names},
        "place": place_of(hit.metadata),
        "address": chunk_address(path, hit.file_hash, hit.metadata),
        "pieces": marked(hit.text, hit.highlights),
        "beginning": hit.text[:BEGINNING] + ("\u2026" if len(hit.text) > BEGINNING else ""),
    }


def marked(text: str, highlights: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it is highlighted."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for first, last in highlights:
        pieces += [(text[end:first], False), (text[first:last], True)]
        end = last
    return [piece for piece in (*pieces, (text[end:], False)) if piece[0]]


async def page(request: ConsoleRequest) -> Response:
    return _page(request, await base_of(request))


async def ask(request: ConsoleRequest) -> Response:
    base, question = await base_of(request), str((await request.posted()).get("question", ""))
    asked = request.services.questions.ask(request.caller, base.id, question)
    try:
        answer = await while_connected(request, asked)
    except Invalid as refusal:
        return _page(request, base, question, faults=faults_of(refusal), status=400)
    except (TooMany, Unavailable) as refusal:
        return _page(request, base, question, faults={"": refusal.message}, status=status_of(refusal))
    citations = []
    for citation in answer.citations:
        chunk = await request.services.files.chunk(request.caller, citation.chunk_id)
        address = chunk_address(base_path(base.id), chunk.file_hash, chunk.metadata)
        citations.append({"citation": citation, "address": address})
    shown = {"text": answer.answer, "citations": citations, "searched": answer.searched}
    return _page(request, base, question, shown)


def _page(
    request: ConsoleRequest,
    base: Base,
    question: str = "",
    answer: Mapping[str, Any] | None = None,
    *,
    faults: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    values = {"question": question, "answer": answer, "faults": faults or {}, "longest": QUESTION}
    return render(request, "knowledge_ask.html", of_base(base, **values), status=status)


ROUTES = [
    Route(BASE + "/files/{file}", text),
    Route(BASE + "/search", search),
    Route(BASE + "/ask", page),
    Route(BASE + "/ask", ask, methods=["POST"]),
]
