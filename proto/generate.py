"""Generates proto/gen and the stubs of the SDK from the .proto files beside this script: `make proto`."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parent
SDK = ROOT.parent / "sdk/python/switchboard_sdk/grpc"
SDK_PACKAGE = (
    '"""Stubs of the gRPC services, with the packages of `proto/switchboard`. Written by `make proto`."""\n'
)


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


def copy_to_sdk(generated: Path, out: Path) -> None:
    """Writes the same modules under `out`, as parts of the package `switchboard_sdk.grpc`: the top-level package
    `switchboard` is the service's own."""
    source = generated / "switchboard"
    for path in sorted(source.rglob("*.py*")):
        if path.suffix not in (".py", ".pyi"):
            continue
        copy = out / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        code = path.read_text("utf-8")
        copy.write_text(code.replace("from switchboard.", "from switchboard_sdk.grpc."), "utf-8")
    (out / "__init__.py").write_text(SDK_PACKAGE, "utf-8")


if __name__ == "__main__":
    generate(ROOT / "gen")
    copy_to_sdk(ROOT / "gen", SDK)
