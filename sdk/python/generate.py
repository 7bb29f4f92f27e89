"""Writes what is made from other files of the project: the types from the OpenAPI description of the gateway, and the
client without `async` from the one with it.

    make sdk
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from datamodel_code_generator import DataModelType, InputFileType, OpenAPIScope, PythonVersion, generate
from datamodel_code_generator.format import Formatter
from fastapi import FastAPI

from adapters.inbound.rest.app import add_routes
from adapters.inbound.rest.openapi import describe

PACKAGE = Path(__file__).parent / "switchboard_sdk"
TYPES, CLIENT = "types.py", "_client.py"
TYPES_HEAD = '"""The objects of the REST interface. Written by `make sdk` from its OpenAPI description."""\n'
WORDS = (
    (r"async (def|with|for) ", r"\1 "),
    (r"await ", ""),
    (r"\bAsync(Client|Iterator|BaseTransport)\b", r"\1"),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\ba(close|read|iter_bytes)\b", r"\1"),
    (r"\basyncio\b", "time"),
)
"""What differs between the two clients."""


def types() -> str:
    description = describe(add_routes(FastAPI(title="Switchboard", version="0")))
    made = generate(
        json.dumps(description),
        input_file_type=InputFileType.OpenAPI,
        output_model_type=DataModelType.TypingTypedDict,
        target_python_version=PythonVersion.PY_311,
        openapi_scopes=[OpenAPIScope.Schemas],
        formatters=[Formatter.BUILTIN],
        disable_timestamp=True,
    )
    code = str(made)
    # Closed dictionaries need typing_extensions, and extra members are told by the service.
    code = re.sub(r",\s*closed=True,?\s*\)", ")", code).replace(
        "from typing_extensions import TypedDict\n", ""
    )
    code = re.sub(
        r"^from typing import (.*)$", r"from typing import \1, TypedDict", code, count=1, flags=re.M
    )
    return TYPES_HEAD + re.sub(r"^#.*\n", "", code, flags=re.M)


def client() -> str:
    code = (PACKAGE / "_async_client.py").read_text("utf-8")
    for pattern, replacement in WORDS:
        code = re.sub(pattern, replacement, code)
    first = (
        '"""The client of Switchboard\'s REST interface. Written by `make sdk` from `_async_client.py`."""'
    )
    return re.sub(r'\A""".*"""', first, code)


def write(folder: Path) -> None:
    (folder / TYPES).write_text(formatted(types()), "utf-8")
    (folder / CLIENT).write_text(formatted(client()), "utf-8")


def formatted(code: str) -> str:
    """As `make format` leaves it."""
    for command in (["check", "--fix-only", "--quiet", "--select=I"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(PACKAGE / "made.py"), "-"]
        code = subprocess.run(ruff, input=code, capture_output=True, text=True, check=True).stdout  # noqa: S603
    return code


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE)
