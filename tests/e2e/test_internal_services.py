"""The program of docs/internal-services.md calls a core over gRPC as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.plain_http import plain_request
from tests.support.service import ROOT, Service

pytestmark = pytest.mark.processes


def test_the_program_of_the_page_lists_instances(open_folder: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs/internal-services.md").read_text("utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    program = tmp_path / "program.py"
    program.write_text(code, "utf-8")

    def run(target: str, key: str) -> subprocess.CompletedProcess[str]:
        own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "sdk/python")}
        command = [sys.executable, str(program), target, key]
        return subprocess.run(command, env=own, capture_output=True, text=True, timeout=120, check=False)

    with Service(open_folder / "data") as service:
        headers = {"Authorization": f"Bearer {service.key}"}
        for name in ("Support", "Sales"):
            body = {
                "channelId": "http-webhook",
                "channelName": name,
                "config": {"webhookSecret": "s3cret", "syncResponse": True},
                "downStreamResourceId": "agent::echo",
            }
            answer = plain_request(
                "POST", f"{service.base}/api/agent/channel-instances", json=body, headers=headers
            )
            assert answer.status_code < 300, answer.text
        target = f"127.0.0.1:{service.grpc_port}"
        listed = run(target, str(service.key))
        refused = run(target, "sb_wrong")

    assert listed.stdout.splitlines() == ["1 Support agent::echo", "2 Sales agent::echo"], listed.stderr
    assert refused.returncode == 1
    assert "UNAUTHENTICATED" in refused.stderr
