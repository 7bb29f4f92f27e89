"""The MCP server: its tools and resources, and errors as answers. Imports the SDK, which is heavy."""

import json
import logging
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError
from starlette.requests import Request

from adapters.inbound.mcp import resources
from adapters.inbound.mcp.knowledge_tools import ListKnowledgeBases, ReadChunk, ReadFile, SearchKnowledge
from adapters.inbound.mcp.tools import (
    AddNote,
    ChangeConversation,
    DecideApproval,
    ListApprovals,
    ListChannels,
    ListConversations,
    ListSnippets,
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
from domain.use_cases import UseCases

log = logging.getLogger(__name__)

Context: TypeAlias = "ServerRequestContext[object, Request]"
T = TypeVar("T")

READING = (
    ListKnowledgeBases,
    SearchKnowledge,
    ReadChunk,
    ReadFile,
    ListChannels,
    ListConversations,
    ReadConversation,
    ListApprovals,
    ListSnippets,
)
SENDING = (SendMessage, ChangeConversation, AddNote, DecideApproval)
SENDING_NAMES = {kind.name() for kind in SENDING}
TURN_ON = "set MCP_SEND=true to let MCP clients send messages"
INSTRUCTIONS = (
    "Switchboard connects chat channels to AI resources and holds knowledge bases. To answer from documents, call"
    " list_knowledge_bases once, then search_knowledge; read around a hit with read_chunk and read_file. To look at"
    " chats, call list_channels, list_conversations and read_conversation. You see what the user of the API key sees."
)


def caller_of(context: Context) -> Caller:
    """The caller that the middleware in front has authenticated for this very request."""
    assert context.request is not None
    caller: Caller = context.request.state.caller
    return caller


def build_server(gateway: Gateway) -> App:
    """Serves one JSON-RPC message per request, each by a session of its own that ends with the request."""
    services = gateway.use_cases
    kinds: Sequence[type[ToolCall]] = (*READING, *SENDING) if gateway.options.mcp_send else READING
    kinds_by_name = {kind.name(): kind for kind in kinds}
    tools = [kind.tool() for kind in kinds]

    async def list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        name = params.name
        if name in SENDING_NAMES and name not in kinds_by_name:
            raise MCPError(types.INVALID_PARAMS, f"the tool {name} is turned off here; {TURN_ON}")
        if name not in kinds_by_name:
            reason = f"there is no tool '{name[:100]}'; tools/list names those that there are"
            raise MCPError(types.INVALID_PARAMS, reason)
        return await _answer(kinds_by_name[name], params.arguments or {}, services, caller_of(context))

    async def list_resources(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        return await _refusals_as_errors(resources.listed(services, caller_of(context), cursor))

    async def list_templates(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(resources.TEMPLATES))

    async def read_resource(
        context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await _refusals_as_errors(resources.read(services, caller_of(context), params.uri))

    server = Server(
        "switchboard",
        version=VERSION,
        title="Switchboard",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=gateway.options.max_body
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    return serve


async def _answer(
    kind: type[ToolCall], arguments: Mapping[str, Any], services: UseCases, caller: Caller
) -> types.CallToolResult:
    """Calls a tool. What the model can mend is an answer with `is_error`."""
    log.info("the tool %s is called", kind.name())
    try:
        answer = await kind.model_validate(arguments).run(services, caller)
    except ValidationError as error:
        faults = (fault_text({**fault, "loc": ("", *fault["loc"])}) for fault in error.errors())
        message = "; ".join(faults)
    except Refusal as refusal:
        message = refusal.message
    except Exception:
        log.exception("the tool %s failed", kind.name())
        raise MCPError(types.INTERNAL_ERROR, INTERNAL) from None
    else:
        value = answer.model_dump(mode="json")
        text = types.TextContent(type="text", text=json.dumps(value, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=value)
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)


async def _refusals_as_errors(work: Awaitable[T]) -> T:
    """Raises refusals as errors of the protocol."""
    try:
        return await work
    except Refusal as refusal:
        raise MCPError(types.INVALID_PARAMS, refusal.message) from None
    except Exception:
        log.exception("a resource could not be read")
        raise MCPError(types.INTERNAL_ERROR, INTERNAL) from None
