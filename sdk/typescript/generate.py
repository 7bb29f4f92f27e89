"""Writes src/types.ts: the types of the REST interface, from the OpenAPI description of the gateway.

make sdk
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from adapters.inbound.rest.app import add_routes
from adapters.inbound.rest.openapi import describe

FOLDER = Path(__file__).parent
HEAD = "/** The REST interface. Written by generate.py from its OpenAPI description. */\n\n"


def description() -> dict[str, Any]:
    return describe(add_routes(FastAPI(title="Switchboard", version="0")))


def types() -> str:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "openapi.json"), Path(folder, "types.ts")
        source.write_text(json.dumps(essence(description())), "utf-8")
        tool = [
            str(FOLDER / "node_modules/.bin/openapi-typescript"),
            str(source),
            "--output",
            str(target),
            "--default-non-nullable=false",
        ]
        subprocess.run(tool, check=True, cwd=folder, capture_output=True)  # noqa: S603
        code = target.read_text("utf-8")
    return HEAD + code.partition("*/\n")[2].lstrip("\n")


def essence(value: Any) -> Any:
    """The description without what says nothing of types, and is long: examples, and the answers of failures, which
    are all alike."""
    if isinstance(value, list):
        return [essence(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _member(key, member) for key, member in value.items() if key not in ("example", "examples")}


def _member(key: str, member: Any) -> Any:
    if key == "properties":
        return {name: essence(schema) for name, schema in member.items()}
    if key == "responses":
        return {status: essence(answer) for status, answer in member.items() if status < "4"}
    return essence(member)


if __name__ == "__main__":
    (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "src/types.ts").write_text(types(), "utf-8")
