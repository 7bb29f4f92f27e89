"""The OpenAPI description takes half a second to make: no other request waits for that."""

import threading
from typing import Any

import httpx
from fastapi import FastAPI

from adapters.inbound.rest import docs_page


async def test_it_is_not_made_by_the_thread_of_the_event_loop() -> None:
    makers = []

    def describe() -> dict[str, Any]:
        makers.append(threading.get_ident())
        return {"openapi": "3.1.0"}

    api = FastAPI(openapi_url=None)
    api.openapi = describe  # type: ignore[method-assign]
    api.include_router(docs_page.router)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://test") as client:
        answer = await client.get(docs_page.DESCRIPTION)
    assert answer.json() == {"openapi": "3.1.0"}
    assert makers
    assert threading.get_ident() not in makers
