"""What scenarios of knowledge bases do over REST, and what they remember of it."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.drivers.ways import Rest

KB = "/api/agent/kb"


@dataclass
class Scene:
    """What a scenario has done so far."""

    base: int = 0
    content: bytes = b""
    names: dict[str, str] = field(default_factory=dict)
    answer: httpx.Response = field(default_factory=lambda: httpx.Response(0))

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def send(
    rest: Rest, scene: Scene, method: str, path: str, user: str | None = "ann", **options: Any
) -> httpx.Response:
    scene.answer = rest.request(method, path, user, **options)
    return scene.answer


def upload(
    rest: Rest, scene: Scene, files: list[tuple[str, str, bytes]], user: str = "ann", **headers: str
) -> None:
    scene.names.update({hashlib.sha256(content).hexdigest(): name for _, name, content in files})
    scene.content = files[-1][2] if files else b""
    parts = [(name, (file, content)) for name, file, content in files]
    send(rest, scene, "POST", f"{KB}/{scene.base}/uploadfile", user, files=parts, headers=headers)


def listed(rest: Rest, scene: Scene) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rest.request("GET", f"{KB}/{scene.base}/files", "ann").json()["files"]
    return found


def ready_files(rest: Rest, scene: Scene) -> dict[str, dict[str, Any]]:
    """The files of the base that can be found, by name."""
    states = rest.request("GET", f"{KB}/{scene.base}/file-states?limit=200", "ann").json()["files"]
    return {file["fileName"]: file for file in states if file["status"] == "ready"}


def found(rest: Rest, scene: Scene, query: str) -> list[str]:
    """The names of the files that hold words of the query, the best first."""
    body = {"query": query, "mode": "text", "perFile": 1}
    hits = rest.request("POST", f"{KB}/{scene.base}/search", "ann", json=body).json()["results"]
    return [hit["fileName"] for hit in hits]


def sources(rest: Rest, scene: Scene) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = rest.request("GET", f"{KB}/{scene.base}/sources", "ann").json()["sources"]
    return listed
