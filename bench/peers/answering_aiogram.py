"""aiogram's webhook server; the handler asks the resource over HTTP and sends its text. With a queue, it is a worker
that does so, and an update is acknowledged once it is stored; without, nothing is stored.

Arguments: PORT TOKEN PLATFORM [QUEUE ADDRESS], see `queues.stored`.
"""

import sys
from contextlib import AsyncExitStack

import uvloop
from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.types import Message
from aiogram.webhook.aiohttp_server import SimpleRequestHandler
from aiohttp import ClientSession, web
from queues import stored

port, token, platform, *queue = sys.argv[1:]
dispatcher = Dispatcher()


@dispatcher.message()
async def message(message: Message, take) -> None:
    await take(chat=message.chat.id, text=message.text)


async def taking(app: web.Application):
    async with AsyncExitStack() as stack:
        resource = await stack.enter_async_context(ClientSession())

        async def answer(chat: int, text: str) -> None:
            async with resource.post(f"{platform}/run", json={"text": text}) as response:
                body = await response.json()
            await bot.send_message(chat, body["text"])

        take = await stack.enter_async_context(stored(*queue, answer)) if queue else answer
        dispatcher["take"] = take
        yield


uvloop.install()
bot = Bot("123456:bench", AiohttpSession(api=TelegramAPIServer.from_base(platform), limit=256))
app = web.Application()
app.cleanup_ctx.append(taking)
SimpleRequestHandler(dispatcher, bot, secret_token=token, handle_in_background=not queue).register(
    app, path="/webhook"
)
web.run_app(app, host="127.0.0.1", port=int(port), access_log=None, print=None)
