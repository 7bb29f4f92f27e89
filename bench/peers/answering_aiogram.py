"""aiogram's webhook server; the handler asks the resource over HTTP and sends its text. Nothing is stored."""

import sys

import uvloop
from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.types import Message
from aiogram.webhook.aiohttp_server import SimpleRequestHandler
from aiohttp import ClientSession, web

port, token, platform = int(sys.argv[1]), sys.argv[2], sys.argv[3]
dispatcher = Dispatcher()


@dispatcher.message()
async def message(message: Message, bot: Bot, resource: ClientSession) -> None:
    async with resource.post(f"{platform}/run", json={"text": message.text}) as response:
        answer = await response.json()
    await bot.send_message(message.chat.id, answer["text"])


async def resource(app: web.Application):
    async with ClientSession() as session:
        dispatcher["resource"] = session
        yield


uvloop.install()
bot = Bot("123456:bench", AiohttpSession(api=TelegramAPIServer.from_base(platform), limit=256))
app = web.Application()
app.cleanup_ctx.append(resource)
SimpleRequestHandler(dispatcher, bot, secret_token=token, handle_in_background=True).register(
    app, path="/webhook"
)
web.run_app(app, host="127.0.0.1", port=port, access_log=None, print=None)
