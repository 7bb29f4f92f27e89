"""A question to a knowledge base, and the answer with the places that it cites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.pages.knowledge import BASE, base_of, base_path, of_base
from adapters.inbound.console.pages.knowledge_text import chunk_address
from adapters.inbound.console.requests import caller_of, faults_of, form_of, render, services_of
from adapters.inbound.rest.errors import status_of
from adapters.inbound.rest.hanging_up import while_connected
from domain.knowledge.model import Base, KnowledgeAnswer
from domain.limits import QUESTION
from domain.refusals import Invalid, TooMany, Unavailable
from domain.routing.model import Citation


async def page(request: Request) -> Response:
    return _page(request, await base_of(request))


async def ask(request: Request) -> Response:
    base, question = await base_of(request), str((await form_of(request)).get("question", ""))
    asked = services_of(request).questions.ask(caller_of(request), base.id, question)
    try:
        answer = await while_connected(request, asked)
    except Invalid as refusal:
        return _page(request, base, question, faults=faults_of(refusal), status=400)
    except (TooMany, Unavailable) as refusal:
        return _page(request, base, question, faults={"": refusal.message}, status=status_of(refusal))
    return _page(request, base, question, await _shown(request, base, answer))


def _page(
    request: Request,
    base: Base,
    question: str = "",
    answer: Mapping[str, Any] | None = None,
    *,
    faults: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    values = {"question": question, "answer": answer, "faults": faults or {}, "longest": QUESTION}
    return render(request, "knowledge_ask.html", of_base(base, **values), status=status)


async def _shown(request: Request, base: Base, answer: KnowledgeAnswer) -> Mapping[str, Any]:
    citations = [await _cited(request, base, citation) for citation in answer.citations]
    return {"text": answer.answer, "citations": citations, "searched": answer.searched}


async def _cited(request: Request, base: Base, citation: Citation) -> Mapping[str, Any]:
    """A citation with the address of its place in the file's text."""
    chunk = await services_of(request).files.chunk(caller_of(request), citation.chunk_id)
    address = chunk_address(base_path(base.id), chunk.file_hash, chunk.metadata)
    return {"citation": citation, "address": address}


ROUTES = [Route(BASE + "/ask", page), Route(BASE + "/ask", ask, methods=["POST"])]
