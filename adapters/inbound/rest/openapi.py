"""The OpenAPI description: what FastAPI finds, the callback path by hand, and no 422 where we answer 400."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from adapters.inbound.rest.examples import CALLBACKS, ERRORS, SCHEMAS
from adapters.inbound.rest.routing import MEANING

DESCRIPTION = """
Connects the places where people write to agents, apps, workflows and functions.

Protected routes take an API key: `Authorization: Bearer <API_KEY>`. Every error is `{"error": string}`.
"""

CALLBACK_PATH = "/api/agent/channels/{type}/{instanceId}/{callback}"
OPEN_PATHS = (
    "/healthz",
    "/readyz",
    "/metrics",
    CALLBACK_PATH,
    "/api/agent/verification/providers",
    "/api/agent/verification/bot-messenger-bot-webhook",
)
ERROR_SCHEMA = {"$ref": "#/components/schemas/ErrorBody"}


def describe(api: FastAPI) -> dict[str, Any]:
    """The description, made once."""
    if api.openapi_schema:
        return api.openapi_schema
    document = get_openapi(
        title="Switchboard", version=api.version, description=DESCRIPTION, routes=api.routes
    )
    document["paths"][CALLBACK_PATH] = _callback()
    components = document.setdefault("components", {})
    components["securitySchemes"] = {"apiKey": {"type": "http", "scheme": "bearer"}}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _mend(
                operation,
                open_to_all=path in OPEN_PATHS or path.startswith("/api/agent/verification/callback"),
            )
    schemas = components.get("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for name in schemas.keys() & SCHEMAS.keys():
        schemas[name]["examples"] = [SCHEMAS[name]]
    api.openapi_schema = document
    return document


def _mend(operation: dict[str, Any], *, open_to_all: bool) -> None:
    operation["security"] = [] if open_to_all else [{"apiKey": []}]
    invalid = operation["responses"].get("422", {})
    if "HTTPValidationError" in str(invalid):
        del operation["responses"]["422"]
    for status, response in operation["responses"].items():
        media = response.get("content", {}).get("application/json", {})
        if status in ERRORS and media.get("schema") == ERROR_SCHEMA:
            media["example"] = {"error": ERRORS[status]}


def _callback() -> dict[str, Any]:
    parameters = [
        {
            "name": "type",
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "example": "http-webhook",
        },
        {"name": "instanceId", "in": "path", "required": True, "schema": {"type": "string"}, "example": "1"},
        {
            "name": "callback",
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "example": "webhook",
        },
    ]
    responses: dict[str, Any] = {
        "200": {"description": "What the platform expects: usually an empty or minimal body."},
        "202": {"description": "cron: the firing was accepted."},
        "502": {"description": "http-webhook, synchronous: the downstream resource failed."},
        "504": {"description": "http-webhook, synchronous: no answer within 30 seconds."},
    }
    for given, example in CALLBACKS.items():
        schema = {"type": "object", "properties": {key: {"type": "string"} for key in example}}
        responses[given]["content"] = {"application/json": {"schema": schema, "example": example}}
    for status in (400, 401, 403, 404, 405, 413, 500, 503):
        content = {"application/json": {"schema": ERROR_SCHEMA}}
        responses[str(status)] = {"description": MEANING[status], "content": content}
    responses["401"]["description"] = "The proof of origin failed."
    operation = {
        "summary": "Webhook callback of a platform (any method)",
        "tags": ["callbacks"],
        "parameters": parameters,
        "responses": responses,
    }
    body = {"content": {"*/*": {"schema": {"description": "The platform's raw payload."}}}}
    return {
        "get": {**operation, "operationId": "callback_get"},
        "post": {**operation, "operationId": "callback_post", "requestBody": body},
    }
