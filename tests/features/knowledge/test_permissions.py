"""The steps of permissions of knowledge bases."""

from typing import Any

from pytest_bdd import given, parsers, scenarios, when

from tests.drivers.knowledge import KB, Scene, send
from tests.drivers.ways import Rest

scenarios("permissions.feature")


@given(parsers.parse("ann gives bob level {level:d}"))
@when(parsers.parse("ann gives bob level {level:d}"))
def gives(rest: Rest, scene: Scene, level: int) -> None:
    body = {"userId": "bob", "permission_level": level}
    assert rest.request("PUT", f"{KB}/{scene.base}/permissions", "ann", json=body).status_code == 204


@when(parsers.parse("bob tries to {action}"))
def tries(rest: Rest, scene: Scene, action: str) -> None:
    base = f"{KB}/{scene.base}"
    calls: dict[str, tuple[str, str, dict[str, Any]]] = {
        "get": ("GET", base, {}),
        "update": ("PUT", base, {"json": {"name": "x"}}),
        "delete": ("DELETE", base, {}),
        "share": ("PUT", f"{base}/permissions", {"json": {"userId": "eve", "permission_level": 1}}),
        "upload": ("POST", f"{base}/uploadfile", {"files": {"f": ("a.txt", b"some text")}}),
        "search": ("POST", f"{base}/search", {"json": {"query": "x"}}),
        "files": ("GET", f"{base}/files", {}),
    }
    method, path, options = calls[action]
    send(rest, scene, method, path, "bob", **options)
