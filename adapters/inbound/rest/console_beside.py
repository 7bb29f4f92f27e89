"""The web console beside the API. It is imported and built with the first request for it: 8 MB that a gateway without
visitors of the console spares."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from adapters.inbound.console.sessions import ROOT
from adapters.inbound.rest.asgi import App, Receive, Scope, Send
from adapters.inbound.rest.events import Streams
from adapters.inbound.rest.routing import Gateway

if TYPE_CHECKING:
    from starlette.applications import Starlette


class ConsoleBeside:
    """The console at its paths and at `/`; everything else is the API's."""

    def __init__(self, api: App, gateway: Gateway, streams: Streams) -> None:
        self._api = api
        self._gateway = gateway
        self._streams = streams
        self._console: asyncio.Future[Starlette] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        own = path in ("/", ROOT) or path.startswith(f"{ROOT}/")
        app: App = await self._built() if own else self._api
        await app(scope, receive, send)

    async def _built(self) -> Starlette:
        """Made once, in a thread, so that nobody else waits for it; a request that breaks off does not end it."""
        if self._console is None:
            self._console = asyncio.ensure_future(asyncio.to_thread(self._build))
        return await asyncio.shield(self._console)

    def _build(self) -> Starlette:
        from adapters.inbound.console.app import build_console

        return build_console(self._gateway, self._streams)
