"""The OpenAPI description: what FastAPI finds, the callback path by hand, and no 422 where we answer 400."""

from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from adapters.inbound.rest import (
    base_file_schemas,
    config_check_schemas,
    conversation_schemas,
    key_schemas,
    knowledge_schemas,
    message_schemas,
    monitoring_schemas,
    question_schemas,
    resource_schemas,
    schedule_schemas,
    schemas,
    source_schemas,
    subscription_schemas,
    web_chat_schemas,
)
from adapters.inbound.rest.auth_middleware import PROTECTED
from adapters.inbound.rest.bodies import standard_schema
from adapters.inbound.rest.call_examples import (
    CALLBACK_BODIES,
    CALLBACK_FORMS,
    CALLBACKS,
    ERRORS,
    PARAMETERS,
    TEXTS,
)
from adapters.inbound.rest.config_examples import CREATE, UPDATE
from adapters.inbound.rest.examples import example_of
from adapters.inbound.rest.message_examples import SEND
from adapters.inbound.rest.routing import ERROR_SCHEMA, MEANING, PUBLIC

DESCRIPTION = """
Connects the places where people write to agents, apps, workflows and functions.

Protected routes take an API key: `Authorization: Bearer <API_KEY>`. Every error is `{"error": string}`.

A service that sends the internal service key instead names the user for whom it acts in the header `x-user-id`. What
would belong to a user is refused with 400 without it.
"""

CALLBACK_DESCRIPTION = (
    "The platform's own webhook, with any method. The proof of origin is the platform's own: a signature or token."
    " The message is stored before it is acknowledged, and a redelivery is acknowledged and dropped."
)
CALLBACK_MEANING = {
    "200": "What the platform expects: usually an empty or minimal body.",
    "202": "cron: the firing was accepted.",
    "502": "http-webhook, synchronous: the downstream resource failed.",
    "504": "http-webhook, synchronous: no answer within 30 seconds.",
}
CALLBACK_PATH = "/api/agent/channels/{type}/{instanceId}/{callback}"
CREATE_PATHS = ("/api/agent/channel-instances", "/api/agent/channels")
SEND_PATH = "/api/agent/channel-instances/{instanceId}/messages"
UPDATE_PATH = "/api/agent/channel-instances/{instanceId}"
MODEL_MODULES = (
    schemas,
    config_check_schemas,
    knowledge_schemas,
    base_file_schemas,
    question_schemas,
    message_schemas,
    conversation_schemas,
    subscription_schemas,
    web_chat_schemas,
    resource_schemas,
    source_schemas,
    schedule_schemas,
    key_schemas,
    monitoring_schemas,
)
"""Modules with the models of bodies."""


def describe(api: FastAPI) -> dict[str, Any]:
    """The description, made once."""
    if api.openapi_schema:
        return api.openapi_schema
    document: dict[str, Any] = standard_schema(
        get_openapi(title="Switchboard", version=api.version, description=DESCRIPTION, routes=api.routes)
    )
    document["paths"][CALLBACK_PATH] = _callback()
    components = document.setdefault("components", {})
    components["securitySchemes"] = {"apiKey": {"type": "http", "scheme": "bearer"}}
    models = components["schemas"]
    models["ErrorBody"] = schemas.ErrorBody.model_json_schema()
    for name in ("HTTPValidationError", "ValidationError"):
        models.pop(name, None)
    for name in models.keys() - {"ErrorBody"}:
        models[name]["examples"] = [_example(name)]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            operation["security"] = [] if _is_open(path) else [{"apiKey": []}]
            operation["description"] = " ".join(operation["description"].split())
            _complete(operation)
    for path in CREATE_PATHS:
        _body_of(document["paths"][path]["post"])["examples"] = CREATE
    _body_of(document["paths"][UPDATE_PATH]["put"])["examples"] = UPDATE
    _body_of(document["paths"][SEND_PATH]["post"])["examples"] = SEND
    api.openapi_schema = document
    return document


def _is_open(path: str) -> bool:
    """Whether a path needs no key, as the middleware sees it."""
    return path == CALLBACK_PATH or not PROTECTED.fullmatch(path) or PUBLIC.fullmatch(path) is not None


def _body_of(operation: dict[str, Any]) -> dict[str, Any]:
    """The JSON body of a request, without the one example that others take the place of."""
    media: dict[str, Any] = operation["requestBody"]["content"]["application/json"]
    media.pop("example", None)
    return media


def _complete(operation: dict[str, Any]) -> None:
    """Takes away the 422 that is a 400 here; gives every parameter and every body an example."""
    invalid = operation["responses"].get("422", {})
    if "HTTPValidationError" in str(invalid):
        del operation["responses"]["422"]
    for parameter in operation.get("parameters", []):
        description, example = PARAMETERS[parameter["name"]]
        parameter.setdefault("description", description)
        parameter.setdefault("example", example)
    for kind, media in operation.get("requestBody", {}).get("content", {}).items():
        _show(kind, media)
    for status, response in operation["responses"].items():
        for kind, media in response.get("content", {}).items():
            if media.get("schema") == ERROR_SCHEMA:
                media["example"] = {"error": ERRORS[status]}
            else:
                _show(kind, media)


def _show(kind: str, media: dict[str, Any]) -> None:
    """Gives a body its example, unless it has one."""
    if "example" in media or "examples" in media:
        return
    if kind in TEXTS:
        media["example"] = TEXTS[kind]
        return
    example = _example(_model_name(media["schema"]))
    media["example"] = [example] if "items" in media["schema"] else example


def _model_name(schema: dict[str, Any]) -> str:
    name: str = (schema.get("items") or schema)["$ref"].rpartition("/")[2]
    return name


def _example(name: str) -> dict[str, Any]:
    return example_of(next(getattr(module, name) for module in MODEL_MODULES if hasattr(module, name)))


def _callback() -> dict[str, Any]:
    names = ("type", "instanceId", "callback")
    operation = {
        "summary": "Webhook callback of a platform (any method)",
        "description": CALLBACK_DESCRIPTION,
        "tags": ["callbacks"],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ],
        "responses": _callback_responses(),
    }
    payload = {"type": "object", "description": "The platform's raw payload."}
    body = {
        "content": {
            "application/json": {"schema": payload, "examples": CALLBACK_BODIES},
            "application/x-www-form-urlencoded": {"schema": payload, "examples": CALLBACK_FORMS},
        }
    }
    return {
        "get": {**deepcopy(operation), "operationId": "callback_get"},
        "post": {**operation, "operationId": "callback_post", "requestBody": body},
    }


def _callback_responses() -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, example in CALLBACKS.items():
        schema = {"type": "object", "properties": {key: {"type": "string"} for key in example}}
        content = {"application/json": {"schema": schema, "example": example}}
        responses[status] = {"description": CALLBACK_MEANING[status], "content": content}
    for code in (400, 401, 403, 404, 405, 413, 500, 503):
        content = {"application/json": {"schema": ERROR_SCHEMA}}
        responses[str(code)] = {"description": MEANING[code], "content": content}
    responses["401"]["description"] = "The proof of origin failed."
    return responses
