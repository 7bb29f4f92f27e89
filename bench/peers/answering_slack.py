"""slack_bolt's async app; the listener asks the resource over HTTP and says its text. With a queue, it is a worker
that does so, and an event is acknowledged once it is stored; without, nothing is stored.

Arguments: PORT PLATFORM [QUEUE ADDRESS], see `queues.stored`.
"""

import sys
from contextlib import AsyncExitStack, asynccontextmanager

import uvicorn
from aiohttp import ClientSession, TCPConnector
from fastapi import FastAPI, Request
from queues import stored
from slack_bolt.adapter.fastapi.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

port, platform, *queue = sys.argv[1:]
taking = []


async def authorize(**_):
    return AuthorizeResult(
        enterprise_id=None, team_id="T1", bot_token="xoxb-1", bot_id="B1", bot_user_id="U0BOT"
    )


client = AsyncWebClient(base_url=f"{platform}/")
sender = AsyncWebClient("xoxb-1", base_url=f"{platform}/")
# With a queue the listener runs before the acknowledgement, which else comes first.
bolt = AsyncApp(
    signing_secret="bench-signing-secret",
    authorize=authorize,
    client=client,
    process_before_response=bool(queue),
)


@bolt.event("message")
async def message(event) -> None:
    await taking[0](channel=event["channel"], text=event["text"])


@asynccontextmanager
async def running(app: FastAPI):
    """One session for the resource and for Slack: the client makes one for each call otherwise."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(ClientSession(connector=TCPConnector(limit=256)))
        client.session = sender.session = session

        async def answer(channel: str, text: str) -> None:
            async with session.post(f"{platform}/run", json={"text": text}) as response:
                body = await response.json()
            await sender.chat_postMessage(channel=channel, text=body["text"])

        taking.append(await stack.enter_async_context(stored(*queue, answer)) if queue else answer)
        yield


handler = AsyncSlackRequestHandler(bolt)
app = FastAPI(lifespan=running)


@app.post("/slack/events")
async def events(request: Request):
    return await handler.handle(request)


uvicorn.run(app, port=int(port), log_level="error", access_log=False, loop="uvloop", http="httptools")
