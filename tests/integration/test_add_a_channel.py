"""The page 'Add a channel', followed to the letter, gives a channel that is installed and keeps the contract."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/add-a-channel.md").read_text()
FILE = re.compile(r"^`([\w/.]+)`\n\n```(?:toml|python|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LISTED = """
from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from ports.http import HttpAnswer
channels = Registry.build(dependencies(Scripted((), HttpAnswer(200, {}, b"{}"))))
print(channels.find("zulip").definition.name)
"""


def run(*command: str, at: Path, **environment: str) -> str:
    paths = os.pathsep.join([*environment.pop("paths", "").split(), str(ROOT), str(ROOT / "proto/gen")])
    done = subprocess.run(
        [sys.executable, *command],
        cwd=at,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a reader of the page has after step 6."""
    folder = tmp_path_factory.mktemp("plugin") / "channel_plugin"
    for name, content in FILE.findall(PAGE):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (folder / "zulip_channel/__init__.py").touch()
    return folder


def test_the_page_shows_the_files_of_the_example(package: Path) -> None:
    example = ROOT / "examples/channel_plugin"
    written = {path.relative_to(package) for path in package.rglob("*") if path.is_file()}
    kept = {
        path.relative_to(example)
        for path in example.rglob("*")
        if path.is_file() and path.suffix in (".py", ".toml", ".json")
    }
    assert written == kept
    for name in kept:
        assert (package / name).read_text() == (example / name).read_text(), name


def test_the_commands_of_the_page_test_and_install_the_channel(package: Path, tmp_path: Path) -> None:
    tested, installed = CONSOLE.findall(PAGE)[-1].splitlines()
    assert tested.startswith("python -m pytest ")
    assert "passed" in run(*tested.split()[1:], at=package, paths=str(package))
    assert installed == "python -m pip install ."
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(tmp_path)]
    run(*installed.split()[1:], *offline, at=package)
    assert run("-c", LISTED, at=tmp_path, paths=str(tmp_path)).strip() == "Zulip"
