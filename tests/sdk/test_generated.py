"""What is made from other files is fresh, and the distribution holds what it needs and nothing of the product."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from tests.support.source_files import ROOT

SDK = ROOT / "sdk/python"


def test_types_and_client_are_fresh(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("sdk_generate", SDK / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    module.write(tmp_path)

    made = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    kept = {name: (SDK / "switchboard_sdk" / name).read_text("utf-8") for name in made}
    assert made == kept, "run: make sdk"


def test_the_wheel_has_its_types_its_page_and_its_licence_and_needs_no_more_than_httpx(
    tmp_path: Path,
) -> None:
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "--no-cache-dir"]
    tree = tmp_path / "tree"
    subprocess.run(["cp", "-r", SDK, tree], check=True)
    made = [*pip, "wheel", str(tree), "--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path)]
    subprocess.run(made, check=True, cwd=tmp_path, capture_output=True)
    [wheel] = tmp_path.glob("switchboard_sdk-*.whl")
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        archive.extractall(tmp_path / "installed")
    modules = {
        path.relative_to(SDK).as_posix()
        for path in (SDK / "switchboard_sdk").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == modules
    assert "switchboard_sdk/py.typed" in modules
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    needed = [
        line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra" not in line
    ]
    assert needed == ["Requires-Dist: httpx<1,>=0.28"]
    assert "License-Expression: Apache-2.0" in metadata
    assert "# Switchboard SDK" in metadata

    others = "{'domain', 'adapters', 'uvicorn', 'fastapi', 'grpc'}"
    alone = f"import sys, switchboard_sdk; assert not {others} & set(sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    subprocess.run([sys.executable, "-c", alone], check=True, cwd=tmp_path, env=environment)
