"""The OpenAPI description: what FastAPI finds, the callback path by hand, and no 422 where we answer 400."""

from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from adapters.inbound.rest import examples
from adapters.inbound.rest.auth_middleware import PROTECTED
from adapters.inbound.rest.bodies import AT, ErrorBody, standard_schema
from adapters.inbound.rest.routing import ERROR_SCHEMA, PUBLIC, errors

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

BY_TYPE = {"integer": 1, "number": 1.0, "string": AT, "boolean": True, "object": {}}


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
    for name in ("HTTPValidationError", "ValidationError"):
        models.pop(name, None)
    for name in models:
        models[name]["examples"] = [_example(models[name], models)]
    models["ErrorBody"] = ErrorBody.model_json_schema()
    for path, operations in document["paths"].items():
        # as the middleware sees it
        is_open = path == CALLBACK_PATH or not PROTECTED.fullmatch(path) or PUBLIC.fullmatch(path) is not None
        for operation in operations.values():
            operation["security"] = [] if is_open else [{"apiKey": []}]
            operation["description"] = " ".join(operation["description"].split())
            if "HTTPValidationError" in str(operation["responses"].get("422", {})):
                del operation["responses"]["422"]  # it is a 400 here
            _add_examples(operation, models)
    for path in CREATE_PATHS:
        _body_of(document["paths"][path]["post"])["examples"] = examples.CREATE
    _body_of(document["paths"][UPDATE_PATH]["put"])["examples"] = examples.UPDATE
    _body_of(document["paths"][SEND_PATH]["post"])["examples"] = examples.SEND
    api.openapi_schema = document
    return document


def _body_of(operation: dict[str, Any]) -> dict[str, Any]:
    """The JSON body of a request, without the one example that others take the place of."""
    media: dict[str, Any] = operation["requestBody"]["content"]["application/json"]
    media.pop("example", None)
    return media


def _add_examples(operation: dict[str, Any], models: dict[str, Any]) -> None:
    """Gives each body an example, unless it has one."""
    bodies = [
        (kind, media, "") for kind, media in operation.get("requestBody", {}).get("content", {}).items()
    ]
    for status, response in operation["responses"].items():
        bodies += [(kind, media, status) for kind, media in response.get("content", {}).items()]
    for kind, media, status in bodies:
        if media.get("schema") == ERROR_SCHEMA:
            media["example"] = {"error": examples.ERRORS[status]}
        elif "example" not in media and "examples" not in media:
            media["example"] = (
                examples.TEXTS[kind] if kind in examples.TEXTS else _example(media["schema"], models)
            )


def _example(schema: dict[str, Any], models: dict[str, Any]) -> Any:
    """A value of a schema, made of the examples at its fields. Optional fields without one are left out."""
    if "$ref" in schema:
        return _example(models[schema["$ref"].rpartition("/")[2]], models)
    if "examples" in schema:
        return schema["examples"][0]
    if "properties" in schema:
        required = schema.get("required", ())
        return {
            name: _example(field, models)
            for name, field in schema["properties"].items()
            if name in required or "examples" in field
        }
    if "anyOf" in schema:
        return None  # all others have examples
    if "const" in schema:
        return schema["const"]
    if schema.get("type") == "array":
        return [_example(schema["items"], models)]
    return schema["enum"][0] if "enum" in schema else BY_TYPE[schema["type"]]


def _callback() -> dict[str, Any]:
    """The callback path: it is served before FastAPI, which does not know of it."""
    described = {
        "type": ("Id of a channel.", "http-webhook"),
        "instanceId": ("Id of an instance.", "1"),
        "callback": ("Name of the callback: `webhook`, or what the channel's page names.", "webhook"),
    }
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": description,
            "schema": {"type": "string"},
            "example": example,
        }
        for name, (description, example) in described.items()
    ]
    responses: dict[str, Any] = {}
    for status, example in examples.CALLBACKS.items():
        schema = {"type": "object", "properties": {key: {"type": "string"} for key in example}}
        content = {"application/json": {"schema": schema, "example": example}}
        responses[status] = {"description": CALLBACK_MEANING[status], "content": content}
    for code, meaning in errors(400, 403, 404, 405, 413).items():
        responses[str(code)] = meaning
    responses["401"]["description"] = "The proof of origin failed."
    payload = {"type": "object", "description": "The platform's raw payload."}
    body = {
        "content": {
            "application/json": {"schema": payload, "examples": examples.CALLBACK_BODIES},
            "application/x-www-form-urlencoded": {"schema": payload, "examples": examples.CALLBACK_FORMS},
        }
    }
    operation = {
        "summary": "Webhook callback of a platform (any method)",
        "description": CALLBACK_DESCRIPTION,
        "tags": ["callbacks"],
        "parameters": parameters,
        "responses": responses,
    }
    return {
        "get": {**deepcopy(operation), "operationId": "callback_get"},
        "post": {**operation, "operationId": "callback_post", "requestBody": body},
    }
