"""The steps of strict reading."""

from typing import Any

from pytest_bdd import given, parsers, scenarios, when

from tests.drivers.knowledge import KB, Scene, send
from tests.drivers.ways import Rest

SETTINGS = {"KB_READ_POLICY": "strict"}
scenarios("strict_reading.feature")


@given(parsers.parse("ann gives bob level {level:d}"))
def gives(rest: Rest, scene: Scene, level: int) -> None:
    body = {"userId": "bob", "permission_level": level}
    assert rest.request("PUT", f"{KB}/{scene.base}/permissions", "ann", json=body).status_code == 204


@when(parsers.parse("bob tries to {action}"))
def tries(rest: Rest, scene: Scene, action: str) -> None:
    chunks = rest.request("GET", f"{KB}/chunks/{scene.hash}", "ann").json()["chunks"]
    calls: dict[str, tuple[str, str, dict[str, Any]]] = {
        "search": ("POST", f"{KB}/{scene.base}/search", {"json": {"query": "pump"}}),
        "ask": ("POST", f"{KB}/{scene.base}/ask", {"json": {"question": "pump"}}),
        "explain": ("POST", f"{KB}/{scene.base}/search/explain", {"json": {"query": "pump"}}),
        "delete": ("DELETE", f"{KB}/{scene.base}/files/{scene.hash}", {}),
        "retry": ("POST", f"{KB}/{scene.base}/files/{scene.hash}/retry", {}),
        "files": ("GET", f"{KB}/{scene.base}/files", {}),
        "read a file": ("GET", f"{KB}/file/{scene.hash}", {}),
        "read a text": ("GET", f"{KB}/file/{scene.hash}/text", {}),
        "download": ("GET", f"{KB}/download/{scene.hash}", {}),
        "read chunks": ("GET", f"{KB}/chunks/{scene.hash}", {}),
        "read a chunk": ("GET", f"{KB}/chunk/{chunks[0]['chunkId']}", {}),
    }
    method, path, options = calls[action]
    send(rest, scene, method, path, "bob", **options)
