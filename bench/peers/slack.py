"""slack_bolt's async app behind its FastAPI adapter; the listener does nothing and nothing is stored."""

import sys

import uvicorn
from fastapi import FastAPI, Request
from slack_bolt.adapter.fastapi.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp


async def authorize(**_):
    from slack_bolt.authorization import AuthorizeResult

    return AuthorizeResult(
        enterprise_id=None, team_id="T1", bot_token="xoxb-1", bot_id="B1", bot_user_id="U0BOT"
    )


bolt = AsyncApp(signing_secret="bench-signing-secret", authorize=authorize, request_verification_enabled=True)


@bolt.event("message")
async def message(body) -> None:
    return


handler = AsyncSlackRequestHandler(bolt)
app = FastAPI()


@app.post("/slack/events")
async def events(request: Request):
    return await handler.handle(request)


uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False, loop="uvloop", http="httptools")
