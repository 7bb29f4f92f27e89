"""Generates proto/gen from the .proto files beside this script: `make proto`."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parent


def generate(out: Path) -> None:
    """Writes messages, stubs and type stubs of every .proto file under `out`."""
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "switchboard").rglob("*.proto"))
    well_known = str(files("grpc_tools") / "_proto")
    scripts = Path(sys.executable).parent
    arguments = [
        "protoc",
        f"-I{ROOT}",
        f"-I{well_known}",
        f"--plugin=protoc-gen-mypy={scripts / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={scripts / 'protoc-gen-mypy_grpc'}",
        f"--python_out={out}",
        f"--grpc_python_out={out}",
        f"--mypy_out=quiet:{out}",
        f"--mypy_grpc_out=quiet:{out}",
    ]
    if protoc.main([*arguments, *sources]) != 0:
        raise SystemExit("protoc failed")
    for folder in {path.parent for path in out.rglob("*_pb2.py")}:
        for package in [folder, *folder.parents]:
            if package == out:
                break
            (package / "__init__.py").touch()


if __name__ == "__main__":
    generate(ROOT / "gen")
