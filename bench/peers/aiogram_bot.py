"""aiogram's webhook server with its secret token; the handler does nothing and nothing is stored."""

import sys

import uvloop
from aiogram import Bot, Dispatcher
from aiogram.webhook.aiohttp_server import SimpleRequestHandler
from aiohttp import web

dispatcher = Dispatcher()


@dispatcher.message()
async def message(_) -> None:
    return


uvloop.install()
app = web.Application()
handler = SimpleRequestHandler(
    dispatcher, Bot("123456:bench"), secret_token=sys.argv[2], handle_in_background=True
)
handler.register(app, path="/webhook")
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
