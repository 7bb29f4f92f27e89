"""The committed proto/gen is what the .proto files say."""

import importlib.util
from pathlib import Path

PROTO = Path(__file__).parents[3] / "proto"


def test_generated_code_is_fresh(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("proto_generate", PROTO / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    module.generate(tmp_path)

    made = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.py*")}
    kept = {
        path.relative_to(PROTO / "gen"): path.read_text()
        for path in (PROTO / "gen").rglob("*.py*")
        if "__pycache__" not in path.parts
    }
    assert made == kept, "run: make proto"
