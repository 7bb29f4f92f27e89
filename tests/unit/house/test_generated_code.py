"""The committed proto/gen, and the stubs of the SDK, are what the .proto files say."""

import importlib.util
from pathlib import Path

import pytest

PROTO = Path(__file__).parents[3] / "proto"


def sources(folder: Path) -> dict[Path, str]:
    return {
        path.relative_to(folder): path.read_text()
        for path in folder.rglob("*.py*")
        if "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("made_for", ["service", "sdk"])
def test_generated_code_is_fresh(tmp_path: Path, made_for: str) -> None:
    spec = importlib.util.spec_from_file_location("proto_generate", PROTO / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    if made_for == "service":
        module.generate(tmp_path)
    else:
        module.copy_to_sdk(PROTO / "gen", tmp_path)

    assert sources(tmp_path) == sources(PROTO / "gen" if made_for == "service" else module.SDK), (
        "run: make proto"
    )
