"""The .proto files are documented, and named as proto/buf.yaml wants: clients in other languages read them alone."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BUF = Path(sys.executable).parent / "buf"


def lint(proto: Path) -> str:
    """Return what buf finds fault with, a line for each fault."""
    done = subprocess.run([BUF, "lint", proto], capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr


def test_every_message_field_and_call_is_documented() -> None:
    assert lint(ROOT / "proto") == ""


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (
            "// What is sent.\nmessage Sent {\n  string text = 1;\n}\n",
            'Field "text" should have a non-empty comment',
        ),
        ("message Sent {}\n", 'Message "Sent" should have a non-empty comment'),
        ("// What is asked.\nservice Asking {}\n", 'should be suffixed with "Service"'),
    ],
)
def test_what_is_not_documented_is_found(tmp_path: Path, content: str, fault: str) -> None:
    package = tmp_path / "switchboard" / "trial" / "v1"
    package.mkdir(parents=True)
    (tmp_path / "buf.yaml").write_text((ROOT / "proto" / "buf.yaml").read_text())
    (package / "trial.proto").write_text(f'syntax = "proto3";\n\npackage switchboard.trial.v1;\n\n{content}')

    assert fault in lint(tmp_path)
