"""What a person gets at the prompt: help at once, the version, completed words, a quiet end in a closed pipe."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.outbound.system.metrics import PrometheusMeter
from adapters.version import VERSION
from apps import cli as completion
from apps.cli import COMMANDS, main
from apps.commands import create, expiry
from apps.processes.starting import StartError
from apps.settings_loading import load
from domain import limits

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "apps.cli"]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit, match="0"):
        main(arguments)
    return capsys.readouterr().out


def test_the_version_is_that_of_the_project_wherever_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION
    assert printed(capsys, "--version") == f"switchboard {VERSION}\n"
    assert f'switchboard_build_info{{version="{VERSION}"}} 1.0' in PrometheusMeter().exposition().decode()
    assert f'appVersion: "{VERSION}"' in (ROOT / "deploy/helm/switchboard/Chart.yaml").read_text()


def test_help_loads_nothing_that_only_a_command_needs(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, "--help")
    assert all(name in told for name, _, _ in COMMANDS)
    script = (
        "import sys, apps.cli\n"
        "try: apps.cli.main(['keys', 'create', '--help'])\n"
        "except SystemExit: print('loaded:', *{'pydantic', 'apps.settings', 'psycopg'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "loaded:"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["completion", "bash"], ["keys", "create", "--help"]]
)
def test_output_into_a_closed_pipe_ends_quietly(arguments: Sequence[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_output_onto_a_full_disk_is_told_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "completion", "bash"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("switchboard: a disk is full")
    assert done.stderr.count("\n") == 1


def completed(*words: str) -> set[str]:
    """What bash offers for the last word."""
    listed = " ".join(f"'{word}'" for word in words)
    script = f"COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _switchboard; echo ${{COMPREPLY[@]}}"
    program = subprocess.run(
        [*COMMAND, "completion", "bash"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    done = subprocess.run(["bash"], input=program + script, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("switchboard", "mi"), {"migrate"}),
        (("switchboard", "keys", ""), {"create", "list", "revoke"}),
        (("switchboard", "keys", "create", "--ex"), {"--expires"}),
        (
            ("switchboard", "keys", "create", "--user", "me", "--role", ""),
            {"responder", "member", "admin"},
        ),
        (("switchboard", "backup", "--without-secrets", "--ch"), {"--check"}),
        (("switchboard", "healthcheck", "c"), {"core"}),
        (("switchboard", "migrate", ""), set()),
    ],
)
def test_bash_completes_commands_options_and_values(words: Sequence[str], offered: set[str]) -> None:
    assert completed(*words) == offered


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_of_each_shell_names_every_command_and_can_be_read(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name, _, _ in COMMANDS)
    assert not re.search(r"\$\{[^}]*:[A-Za-z]", script), "a letter behind a colon is a modifier for zsh"
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("1", NOW + timedelta(days=1)),
        (str(limits.KEY_DAYS), NOW + timedelta(days=limits.KEY_DAYS)),
        ("2026-03-01", datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)),
        ("2026-12-31", datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_key_expires_after_days_or_at_the_end_of_a_day(text: str, end: datetime) -> None:
    assert expiry(text, NOW) == end


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "0",
        "-1",
        "soon",
        "2026-02-28",
        "2026-02-30",
        "9999-12-31",
        "1" * 5000,
        "²",
        str(limits.KEY_DAYS + 1),
    ],
)
def test_another_end_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(StartError, match=r"--expires must be a number of days .* such as 2026-05-30"):
        expiry(text, NOW)


def test_an_end_that_is_empty_makes_no_lasting_key() -> None:
    with pytest.raises(StartError, match="--expires must be a number of days"):
        create(load({}, env_file=None), Namespace(user="ann", role="user", name="", expires=""))
