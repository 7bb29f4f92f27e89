"""The OpenAPI document: complete, true to the service, with examples that work."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from adapters.inbound.rest.examples import CONFIGS
from adapters.version import VERSION
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import World

WORKER = False
DEAD = "http://127.0.0.1:1"
SETTINGS = dict.fromkeys(
    (
        "WORKSPACE_CHAT_API_URL",
        "GAMING_CHAT_API_URL",
        "BOT_MESSENGER_API_URL",
        "BUSINESS_MESSAGING_API_URL",
        "SMS_PROVIDER_API_URL",
        "MAIL_API_URL",
        "DRIVE_FOLDER_API_URL",
        "GOOGLE_TOKEN_URL",
        "ENTERPRISE_CHAT_LOGIN_URL",
        "ENTERPRISE_CHAT_OPENID_URL",
    ),
    DEAD,
)
"""No platform is called in earnest."""


@pytest.fixture
def document(rest: Rest) -> dict[str, Any]:
    found: dict[str, Any] = rest.request("GET", "/openapi.json").json()
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def media(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every body: where it stands, its type, and what the document says of it."""
    for name, operation in operations(document):
        for kind, body in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{name} request", kind, body
        for status, response in operation["responses"].items():
            for kind, body in response.get("content", {}).items():
                yield f"{name} {status}", kind, body


def examples(body: dict[str, Any]) -> list[Any]:
    return [body["example"]] if "example" in body else [each["value"] for each in body["examples"].values()]


def test_the_description_has_the_version_of_the_installation(document: dict[str, Any]) -> None:
    assert document["info"]["version"] == VERSION


def test_every_operation_has_a_summary_and_a_description(document: dict[str, Any]) -> None:
    names = [name for name, _ in operations(document)]
    for name, operation in operations(document):
        assert operation["summary"].strip(), name
        assert operation["description"].endswith("."), name
        assert operation["tags"], name
        assert operation["description"] != operation["summary"], name
    assert len({operation["operationId"] for _, operation in operations(document)}) == len(names)


def test_every_parameter_has_a_description_and_an_example(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        for parameter in operation.get("parameters", []):
            assert parameter["description"], (name, parameter)
            assert "example" in parameter or parameter["schema"]["examples"], (name, parameter)


def test_a_key_is_asked_for_where_the_service_asks_for_one(rest: Rest, document: dict[str, Any]) -> None:
    """Every operation is called without a key."""
    open_to_all = set()
    for name, operation in operations(document):
        method, path = name.split(" ")
        for each in operation.get("parameters", []):
            path = path.replace(f"{{{each['name']}}}", "1")
        refused = rest.request(method, path)
        needs = refused.status_code == 401 and refused.json() == {"error": "Unauthorized"}
        assert operation["security"] == ([{"apiKey": []}] if needs else []), name
        assert ("401" in operation["responses"]) or not needs, name
        if not needs:
            open_to_all.add(path)
    assert "/api/agent/files/1/1" in open_to_all
    assert "/api/agent/verification/providers" in open_to_all
    assert "401" not in document["paths"]["/api/agent/files/{token}/{name}"]["get"]["responses"]


def test_every_body_has_an_example_that_fits_its_schema(document: dict[str, Any]) -> None:
    for where, kind, body in media(document):
        shown = examples(body)
        assert shown, where
        for example in shown:
            if kind == "application/json":
                schema = {**body["schema"], "components": document["components"]}
                jsonschema.validate(example, schema)
                _has_no_other_fields(body["schema"], example, document, where)
            elif kind == "multipart/form-data":
                assert list(example) == list(body["schema"]["properties"]), where
            elif kind == "application/x-www-form-urlencoded":
                assert all(isinstance(each, str) for each in example.values()), where
            else:
                assert isinstance(example, str), where
                assert example, where


def _has_no_other_fields(schema: dict[str, Any], example: Any, document: dict[str, Any], where: str) -> None:
    if schema.get("type") == "array":
        assert example, where
        for each in example:
            _has_no_other_fields(schema["items"], each, document, where)
        return
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    assert set(schema.get("properties", example)) >= set(example), where


def test_every_schema_has_an_example_of_its_own_or_is_part_of_another(document: dict[str, Any]) -> None:
    named = {
        schema["$ref"].rpartition("/")[2]
        for _, _, body in media(document)
        if "$ref" in (schema := body.get("schema", {}).get("items", body.get("schema", {})))
    }
    for name in named:
        schema = document["components"]["schemas"][name]
        assert "examples" in schema or "example" in schema, name


def test_each_config_example_creates_an_instance(rest: Rest, world: World, document: dict[str, Any]) -> None:
    definitions = rest.request("GET", "/api/agent/channels", "ann").json()
    assert list(CONFIGS) == [each["id"] for each in definitions]
    for path in (INSTANCES, "/api/agent/channels"):
        body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        assert list(body["examples"]) == list(CONFIGS)
        for name, example in body["examples"].items():
            made = rest.request("POST", path, "ann", json=example["value"])
            assert made.status_code == 201, (name, made.text)
            found = rest.request("GET", f"{INSTANCES}/{made.json()['instanceId']}", "ann").json()
            assert found["config"].items() >= example["value"]["config"].items(), name
            update = document["paths"][f"{INSTANCES}/{{instanceId}}"]["put"]["requestBody"]["content"]
            value = update["application/json"]["examples"][name]["value"]
            changed = rest.request("PUT", f"{INSTANCES}/{made.json()['instanceId']}", "ann", json=value)
            assert changed.status_code == 200, (name, changed.text)
            rest.request("DELETE", f"{INSTANCES}/{made.json()['instanceId']}", "ann")


def test_the_examples_of_requests_are_taken(rest: Rest, document: dict[str, Any]) -> None:
    made = {"{id}": rest.request("POST", "/api/agent/kb", "ann", json={"name": "Handbook"}).json()["id"]}
    for name in (
        "POST /api/agent/kb",
        "PUT /api/agent/kb/{id}",
        "PUT /api/agent/kb/{id}/permissions",
        "POST /api/agent/kb/{id}/search",
    ):
        method, template = name.split(" ")
        body = document["paths"][template][method.lower()]["requestBody"]["content"]["application/json"]
        path = template.replace("{id}", str(made["{id}"]))
        answer = rest.request(method, path, "ann", json=examples(body)[0])
        assert 200 <= answer.status_code < 300, (name, answer.text)
