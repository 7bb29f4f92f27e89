"""The MCP server: its tools and resources, and errors as answers. Imports the SDK, which is heavy."""

import json
import logging
from collections.abc import Awaitable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from mcp_types import CallToolRequestParams as Call
from pydantic import ValidationError
from starlette.requests import Request

from adapters.inbound.mcp import resources
from adapters.inbound.mcp.knowledge_tools import ListKnowledgeBases, ReadChunk, ReadFile, SearchKnowledge
from adapters.inbound.mcp.tools import (
    ListChannels,
    ListConversations,
    ReadConversation,
    SendMessage,
    ToolCall,
)
from adapters.inbound.rest.asgi import App, Receive, Scope, Send
from adapters.inbound.rest.errors import INTERNAL, fault_text
from adapters.inbound.rest.routing import Gateway
from adapters.version import VERSION
from domain.access.model import Caller
from domain.refusals import Refusal

Context: TypeAlias = "ServerRequestContext[object, Request]"


def caller_of(context: Context) -> Caller:
    """The caller that the middleware in front has authenticated for this very request."""
    assert context.request is not None
    caller: Caller = context.request.state.caller
    return caller


log = logging.getLogger(__name__)

T = TypeVar("T")

READING = (
    ListKnowledgeBases,
    SearchKnowledge,
    ReadChunk,
    ReadFile,
    ListChannels,
    ListConversations,
    ReadConversation,
)
INSTRUCTIONS = (
    "Switchboard connects chat channels to AI resources and holds knowledge bases. To answer from documents, call"
    " list_knowledge_bases once, then search_knowledge; read around a hit with read_chunk and read_file. To look at"
    " chats, call list_channels, list_conversations and read_conversation. You see what the user of the API key sees."
)


def build_server(gateway: Gateway) -> App:
    """Serves one JSON-RPC message per request, each by a session of its own that ends with the request."""
    server = _Handlers(gateway).server()

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=gateway.options.max_body
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    return serve


class _Handlers:
    def __init__(self, gateway: Gateway) -> None:
        self._services = gateway.use_cases
        kinds: Sequence[type[ToolCall]] = (*READING, SendMessage) if gateway.options.mcp_send else READING
        self._kinds: Mapping[str, type[ToolCall]] = {kind.name(): kind for kind in kinds}
        self._tools = [_tool(kind) for kind in kinds]

    def server(self) -> Server:
        return Server(
            "switchboard",
            version=VERSION,
            title="Switchboard",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def _list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=self._tools)

    async def _call_tool(self, context: Context, params: Call) -> CallToolResult:
        kind = self._kinds.get(params.name)
        if kind is None:
            raise MCPError(INVALID_PARAMS, _unknown(params.name))
        log.info("the tool %s is called", params.name)
        try:
            call = kind.model_validate(params.arguments or {})
            answer = await call.run(self._services, caller_of(context))
        except ValidationError as error:
            return _failed(
                "; ".join(fault_text({**fault, "loc": ("", *fault["loc"])}) for fault in error.errors())
            )
        except Refusal as refusal:
            return _failed(refusal.message)
        except Exception:
            log.exception("the tool %s failed", params.name)
            raise MCPError(INTERNAL_ERROR, INTERNAL) from None
        value = answer.model_dump(mode="json")
        text = TextContent(type="text", text=json.dumps(value, ensure_ascii=False))
        return CallToolResult(content=[text], structured_content=value)

    async def _list_resources(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        cursor = params.cursor if params else None
        return await _refusals_as_errors(resources.listed(self._services, caller_of(context), cursor))

    async def _list_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def _read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        return await _refusals_as_errors(resources.read(self._services, caller_of(context), params.uri))


def _tool(kind: type[ToolCall]) -> Tool:
    return Tool(
        name=kind.name(),
        title=kind.TITLE,
        description=kind.description(),
        input_schema=kind.input_schema(),
        output_schema=kind.output_schema(),
        annotations=ToolAnnotations(
            title=kind.TITLE,
            read_only_hint=not kind.SENDS,
            destructive_hint=False,
            idempotent_hint=not kind.SENDS,
            open_world_hint=kind.SENDS,
        ),
    )


def _unknown(name: str) -> str:
    if name == SendMessage.name():
        return f"the tool {name} is turned off here; set MCP_SEND=true to let MCP clients send messages"
    return f"there is no tool '{name[:100]}'; tools/list names those that there are"


def _failed(message: str) -> CallToolResult:
    """An error that the model sees, and can mend."""
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)


async def _refusals_as_errors(work: Awaitable[T]) -> T:
    """Raises refusals as errors of the protocol."""
    try:
        return await work
    except Refusal as refusal:
        raise MCPError(INVALID_PARAMS, refusal.message) from None
    except Exception:
        log.exception("a resource could not be read")
        raise MCPError(INTERNAL_ERROR, INTERNAL) from None
