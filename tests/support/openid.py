"""A real OpenID provider of the registry npm, in a process of its own."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "oidc"
NODE = shutil.which("node")
NPM = shutil.which("npm")
CLIENT_ID, CLIENT_SECRET = "switchboard", "secret-of-the-client"


class OpenIdServer:
    """`issuer`: its address, of another host name than the console's: another site for browsers."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.issuer: str = self._answer()["issuer"]

    @property
    def settings(self) -> dict[str, str]:
        return {
            "OIDC_ISSUER": self.issuer,
            "OIDC_CLIENT_ID": CLIENT_ID,
            "OIDC_CLIENT_SECRET": CLIENT_SECRET,
        }

    def show(self, claims: dict[str, Any], user_info: dict[str, Any] | None = None) -> None:
        """Signs this person in from now on. `user_info`: what only the user information tells."""
        self._ask("person", claims, user_info)

    def fault(self, name: str) -> None:
        """What it does wrong from now on; empty for nothing."""
        self._ask("fault", name)

    def rotate(self) -> None:
        """Signs with a new key from now on."""
        self._ask("rotate")

    def stop(self) -> None:
        self._ask("stop")

    def start(self) -> None:
        self._ask("start")

    def end_sessions(self) -> list[dict[str, Any]]:
        """Who came to sign out."""
        sessions: list[dict[str, Any]] = self._ask("seen")["endSessions"]
        return sessions

    def _ask(self, *command: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


@contextmanager
def openid_server() -> Iterator[OpenIdServer]:
    if NODE is None or NPM is None:
        pytest.skip("Node.js is not installed: there is no OpenID provider")
    if not (FOLDER / "node_modules/.package-lock.json").exists():
        install = [NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        made = subprocess.run(install, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=300)
        if made.returncode:
            pytest.skip(f"npm could not install the OpenID provider: {made.stderr[-500:]}")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [NODE, "provider.mjs"], cwd=FOLDER, stdin=pipe, stdout=pipe, text=True, encoding="utf-8"
    ) as process:
        try:
            yield OpenIdServer(process)
        finally:
            process.kill()
