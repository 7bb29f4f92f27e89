"""Steps that several features of knowledge bases share."""

import pytest
from pytest_bdd import given, parsers, then, when

from tests.drivers.knowledge import KB, Scene, send, upload
from tests.drivers.ways import Rest

STATUSES = {
    "done": 200,
    "created": 201,
    "accepted": 202,
    "done without a body": 204,
    "a part": 206,
    "unchanged": 304,
    "invalid": 400,
    "not known": 401,
    "forbidden": 403,
    "not found": 404,
    "conflict": 409,
    "too large": 413,
    "unsupported": 415,
    "out of range": 416,
    "unreadable": 422,
    "away": 503,
}
WITHOUT_A_BODY = {"done without a body", "unchanged"}


@pytest.fixture
def scene() -> Scene:
    return Scene()


@given(parsers.parse('ann has the base "{name}"'))
def has_base(rest: Rest, scene: Scene, name: str) -> None:
    scene.base = send(rest, scene, "POST", KB, json={"name": name}).json()["id"]


@when(parsers.re(r"(?P<user>\w+) sends (?P<method>[A-Z]+) to (?P<path>\S+)"))
def sends(rest: Rest, scene: Scene, user: str, method: str, path: str) -> None:
    field = "query" if path.endswith("/search") else "name"
    body = {field: "x"} if method in ("PUT", "POST") else None
    path = path.replace("{hash}", scene.hash)
    send(rest, scene, method, path, None if user == "nobody" else user, json=body)


@then(parsers.parse('the request is "{outcome}"'))
def outcome_is(scene: Scene, outcome: str) -> None:
    assert scene.answer.status_code == STATUSES[outcome], scene.answer.text
    assert outcome not in WITHOUT_A_BODY or not scene.answer.content


@then(parsers.parse('the error is "{text}"'))
def error_is(scene: Scene, text: str) -> None:
    assert scene.answer.json() == {"error": text}


@then(parsers.parse('the error names "{field}"'))
def error_names(scene: Scene, field: str) -> None:
    assert list(scene.answer.json()) == ["error"]
    assert field in scene.answer.json()["error"]


@then(parsers.parse('ann\'s bases are "{name}"'))
def anns_bases(rest: Rest, name: str) -> None:
    found = rest.request("GET", KB, "ann").json()["knowledgeBases"]
    assert [base["name"] for base in found] == [name]


@then(parsers.parse('{user}\'s bases are "{name}" at level {level:d}'))
def users_bases(rest: Rest, user: str, name: str, level: int) -> None:
    found = rest.request("GET", KB, user).json()["knowledgeBases"]
    assert [(base["name"], base["permission_level"]) for base in found] == [(name, level)]


@then(parsers.parse("{user} has no bases"))
def no_bases(rest: Rest, user: str) -> None:
    assert rest.request("GET", KB, user).json() == {"knowledgeBases": []}


@then(parsers.parse('nothing is left of "{name}"'))
def nothing_left(rest: Rest, scene: Scene, name: str) -> None:
    for kind in ("file", "download", "chunks"):
        assert rest.request("GET", f"{KB}/{kind}/{scene.hash}", "ann").status_code == 404


@when(parsers.parse('ann uploads "{name}" saying "{text}"'))
@given(parsers.parse('ann has uploaded "{name}" saying "{text}"'))
def uploads(rest: Rest, scene: Scene, name: str, text: str) -> None:
    upload(rest, scene, [("file", name, text.encode())])
