"""slack_bolt's async app; the listener asks the resource over HTTP and says its text. Nothing is stored."""

import sys
from contextlib import asynccontextmanager

import uvicorn
from aiohttp import ClientSession, TCPConnector
from fastapi import FastAPI, Request
from slack_bolt.adapter.fastapi.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

port, platform = int(sys.argv[1]), sys.argv[2]
sessions: list[ClientSession] = []


async def authorize(**_):
    return AuthorizeResult(
        enterprise_id=None, team_id="T1", bot_token="xoxb-1", bot_id="B1", bot_user_id="U0BOT"
    )


client = AsyncWebClient(base_url=f"{platform}/")
bolt = AsyncApp(signing_secret="bench-signing-secret", authorize=authorize, client=client)


@bolt.event("message")
async def message(event, context) -> None:
    async with sessions[0].post(f"{platform}/run", json={"text": event["text"]}) as response:
        answer = await response.json()
    await context.client.chat_postMessage(channel=event["channel"], text=answer["text"])


@asynccontextmanager
async def one_session(app: FastAPI):
    """For the resource and for Slack: the client makes one for each call otherwise."""
    async with ClientSession(connector=TCPConnector(limit=256)) as session:
        sessions.append(session)
        client.session = session
        yield


handler = AsyncSlackRequestHandler(bolt)
app = FastAPI(lifespan=one_session)


@app.post("/slack/events")
async def events(request: Request):
    return await handler.handle(request)


uvicorn.run(app, port=port, log_level="error", access_log=False, loop="uvloop", http="httptools")
