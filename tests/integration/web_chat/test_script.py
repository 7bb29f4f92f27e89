"""What a website gets as /web-chat.js."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from adapters.inbound.rest import web_chat_panel

AT_MOST = 30_000


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    api = FastAPI()
    api.include_router(web_chat_panel.router)
    transport = httpx.ASGITransport(app=api)
    async with httpx.AsyncClient(transport=transport, base_url="https://agent.example.com") as client:
        yield client


async def test_a_small_script_for_pages_anywhere(client: httpx.AsyncClient) -> None:
    answer = await client.get("/web-chat.js")
    assert int(answer.headers["content-length"]) < AT_MOST
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    plain = await client.get("/web-chat.js", headers={"Accept-Encoding": "identity"})
    assert plain.text == answer.text
    assert "Content-Encoding" not in plain.headers


async def test_a_browser_that_has_it_gets_no_second_copy(client: httpx.AsyncClient) -> None:
    tag = (await client.get("/web-chat.js")).headers["etag"]
    again = await client.get("/web-chat.js", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


async def test_nothing_in_it_makes_code_or_markup_of_a_text(client: httpx.AsyncClient) -> None:
    text = (await client.get("/web-chat.js")).text
    means = (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "<style",
    )
    assert [each for each in means if each in text] == []
