"""The steps of instances.feature."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.ways import Reply, Rest

WORKER = False
scenarios("instances.feature")

RIGHT: Mapping[str, Mapping[str, Any]] = {
    "bot-messenger": {"botToken": "1:a"},
    "gaming-chat": {"botToken": "a", "applicationId": "1"},
    "community-chat": {"SERVER_URL": "https://chat.example.com", "channelId": "c", "token": "t"},
    "sms-provider": {"accountSid": "AC1", "authToken": "t", "providerPhoneNumber": "+14155550100"},
    "linked-device-messaging": {"phoneNumber": "14155550100"},
    "cron": {"cronSchedule": "0 9 * * 1", "message": "hello"},
    "erp-events": {
        "erpUrl": "https://erp.example.com",
        "database": "d",
        "username": "u",
        "password": "p",
        "models": "res.partner",
        "events": "create, write",
    },
    "http-webhook": {},
    "web-chat": {},
    "email": {
        "smtpHost": "mail.example.com",
        "smtpPort": 587,
        "imapHost": "mail.example.com",
        "imapPort": 993,
        "username": "u",
        "password": "p",
        "fromEmail": "u@example.com",
    },
    "drive-folder": {"clientId": "c", "clientSecret": "s", "refreshToken": "r", "folderId": "f"},
}


@pytest.fixture
def ids() -> dict[str, int]:
    """Instance ids by name."""
    return {}


def _body(name: str, resource: str = "agent::echo", **more: Any) -> dict[str, Any]:
    return {
        "channelId": "http-webhook",
        "channelName": name,
        "config": {},
        "downStreamResourceId": resource,
        **more,
    }


@given(parsers.parse('{user} has the http-webhook "{name}"'))
def has(rest: Rest, ids: dict[str, int], user: str, name: str) -> None:
    ids[name] = rest.create(user, _body(name)).body["instanceId"]


@when(parsers.parse('{user} creates the http-webhook "{name}" bound to "{resource}"'), target_fixture="reply")
def creates(rest: Rest, user: str, name: str, resource: str) -> Reply:
    return rest.create(user, _body(name, resource))


UNUSUAL = {"zebra": 993, "apple": [1.5, {"x": None}], "syncResponse": False, "müsli": "ß"}
CONFIGS: dict[str, dict[str, object]] = {
    "without a configuration": {},
    "with a port as text, a port out of range, an empty host and a sender that is no address": {
        "smtpHost": "mail.example.com",
        "smtpPort": "587",
        "imapHost": "",
        "imapPort": 99999,
        "username": "u",
        "password": "p",
        "fromEmail": "nobody",
    },
}


@when(
    "ann creates an http-webhook with numbers, lists and unknown fields in its configuration",
    target_fixture="reply",
)
def creates_configured(rest: Rest) -> Reply:
    return rest.create("ann", _body("Configured", config=UNUSUAL))


@when(
    parsers.re(rf"(?P<user>\w+) creates an? (?P<channel>[\w-]+) instance (?P<config>{'|'.join(CONFIGS)})"),
    target_fixture="reply",
)
def creates_instance(rest: Rest, user: str, channel: str, config: str) -> Reply:
    return rest.create(user, _body("Instance", channelId=channel, config=CONFIGS[config]))


@when(
    parsers.parse("{user} creates a {channel} instance that is right but for {field}, which is {value}"),
    target_fixture="reply",
)
def creates_faulty(rest: Rest, user: str, channel: str, field: str, value: str) -> Reply:
    return rest.create(
        user, _body("Faulty", channelId=channel, config={**RIGHT[channel], field: json.loads(value)})
    )


@when("ann creates an http-webhook instance with headers nested 9000 deep", target_fixture="reply")
def creates_nested(rest: Rest) -> Reply:
    return rest.create("ann", _body("Nested", config={"responseHeaders": "[" * 9000}))


@when("ann creates an http-webhook instance with a header of 5000 digits", target_fixture="reply")
def creates_long_number(rest: Rest) -> Reply:
    return rest.create("ann", _body("Long", config={"responseHeaders": '{"X": %s}' % ("9" * 5000)}))


@when("ann creates an email instance with a port of 400 digits", target_fixture="reply")
def creates_vast(rest: Rest) -> Reply:
    return rest.create(
        "ann", _body("Vast", channelId="email", config={**RIGHT["email"], "smtpPort": 10**400})
    )


@when(
    parsers.parse('{user} creates an instance with the id of "{name}" and the name "{new_name}"'),
    target_fixture="reply",
)
def upserts(rest: Rest, ids: dict[str, int], user: str, name: str, new_name: str) -> Reply:
    return rest.create(user, _body(new_name, id=ids[name]))


@when(parsers.parse("{user} creates an instance with an id that names nothing"), target_fixture="reply")
def upserts_nothing(rest: Rest, user: str) -> Reply:
    return rest.create(user, _body("Fresh", id=987_654_321))


@when(parsers.parse('{user} renames "{name}" to "{new_name}"'), target_fixture="reply")
def renames(rest: Rest, ids: dict[str, int], user: str, name: str, new_name: str) -> Reply:
    return rest.update(user, ids[name], {"config": {}, "channelName": new_name})


@when(parsers.parse('{user} deletes "{name}"'), target_fixture="reply")
def deletes(rest: Rest, ids: dict[str, int], user: str, name: str) -> Reply:
    return rest.delete(user, ids[name])


@when(parsers.parse('{user} tries to {act} "{name}"'), target_fixture="reply")
def tries(rest: Rest, ids: dict[str, int], user: str, act: str, name: str) -> Reply:
    match act:
        case "read":
            return rest.instance(user, ids[name])
        case "update":
            return rest.update(user, ids[name], {"config": {}})
        case "delete":
            return rest.delete(user, ids[name])
    assert act == "pair"
    return rest.request_pairing(user, ids[name])


@then("it is created")
def created(reply: Reply) -> None:
    assert reply.outcome == "created", reply.body
    assert reply.body["success"] is True
    assert reply.body["webhookError"] is None
    assert reply.body["microserviceConnected"] is True
    assert isinstance(reply.body["instanceId"], int)


@then(parsers.parse('the answer is "{outcome}"'))
def the_answer(reply: Reply, outcome: str) -> None:
    assert reply.outcome == outcome, reply.body


@then(parsers.parse('the operation is "{operation}"'))
def the_operation(reply: Reply, operation: str) -> None:
    assert reply.body["operation"] == operation


@then(parsers.parse('{user}\'s instances are "{names}"'))
def instances_are(rest: Rest, user: str, names: str) -> None:
    assert [each["channelName"] for each in rest.instances(user).body] == names.split(", ")


@then(parsers.parse("{user} has no instances"))
def no_instances(rest: Rest, user: str) -> None:
    assert rest.instances(user).body == []


@then(
    parsers.parse(
        'the instance shows its channel "{channel_id}" named "{name}", its owner {user} and the status "{status}"'
    )
)
def shows(rest: Rest, reply: Reply, channel_id: str, name: str, user: str, status: str) -> None:
    assert rest.instance(user, reply.body["instanceId"]).body == {
        "id": reply.body["instanceId"],
        "channelId": channel_id,
        "channelName": "Support",
        "downStreamResourceId": "agent::echo",
        "config": {},
        "userId": user,
        "status": status,
        "channelType": name,
        "channelTypeName": channel_id,
        "trusted": False,
    }


@then("the configuration comes back as it was")
def comes_back(rest: Rest, reply: Reply) -> None:
    config = rest.instance("ann", reply.body["instanceId"]).body["config"]
    assert json.dumps(config) == json.dumps(UNUSUAL)


@then(parsers.re(r"the error names (?P<names>.*)"))
def error_names(reply: Reply, names: str) -> None:
    for name in names.replace(" and ", ", ").split(", "):
        assert f"{name.strip(chr(34))}: " in reply.error


@then(parsers.parse('the message mentions "{word}"'))
def message_mentions(reply: Reply, word: str) -> None:
    assert word in reply.body["message"]


@then(parsers.parse('the instance\'s health mentions "{word}"'))
def health_mentions(rest: Rest, reply: Reply, word: str) -> None:
    health = rest.health("ann", reply.body["instanceId"]).body
    assert health["healthy"] is False
    assert any(word in warning for warning in health["warnings"])
