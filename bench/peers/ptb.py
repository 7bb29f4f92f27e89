"""python-telegram-bot behind Starlette, as its own example does; the handler does nothing."""

import asyncio
import hmac
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from telegram import Bot, Update, User
from telegram.ext import Application, MessageHandler, filters

SECRET = sys.argv[2]


async def nothing(update, context) -> None:
    return


class Offline(Bot):
    async def initialize(self) -> None:
        self._bot_user = User(123456, "bench", is_bot=True, username="bench_bot")

    async def shutdown(self) -> None:
        return


async def main() -> None:
    bot = Offline("123456:bench")
    application = Application.builder().bot(bot).updater(None).build()
    application.add_handler(MessageHandler(filters.ALL, nothing))

    async def take(request: Request) -> Response:
        if not hmac.compare_digest(request.headers.get("x-telegram-bot-api-secret-token", ""), SECRET):
            return Response(status_code=401)
        await application.update_queue.put(Update.de_json(await request.json(), bot))
        return Response()

    app = Starlette(routes=[Route("/webhook", take, methods=["POST"])])
    config = uvicorn.Config(
        app, port=int(sys.argv[1]), log_level="error", access_log=False, loop="uvloop", http="httptools"
    )
    async with application:
        await application.start()
        await uvicorn.Server(config).serve()


asyncio.run(main())
