"""The wheel works without the checkout it was made from: in an environment of its own, from another folder."""

import shutil
import stat
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from tests.support.service import ROOT, STOPPED_S, Service, one_line, run_once

pytestmark = pytest.mark.processes

SOURCES = ("domain", "ports", "adapters", "apps", "proto/gen")
PIP = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "--no-cache-dir"]


def built_wheel(folder: Path) -> Path:
    """Made from a copy, as the build writes into the tree it builds."""
    tree = folder / "tree"
    for source in SOURCES:
        shutil.copytree(ROOT / source, tree / source, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    command = [*PIP, "wheel", str(tree), "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    return next(folder.glob("*.whl"))


def installed(wheel: Path, folder: Path) -> Path:
    """The `switchboard` of an environment that has the wheel, and the packages of this one but not its checkout:
    files .pth count only in the folder of an environment itself."""
    venv.create(folder, with_pip=False)
    python = str(folder / "bin/python")
    command = [*PIP, "--python", python, "install", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin/switchboard"


def shipped(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def wanted() -> set[str]:
    """What the code needs: all of it but tests, samples of what platforms send, and descriptions of interfaces."""
    files = {
        path.relative_to(ROOT / ("proto/gen" if source == "proto/gen" else "."))
        for source in SOURCES
        for path in (ROOT / source).rglob("*")
        if path.is_file()
    }
    left_out = {"tests", "fixtures", "__pycache__"}
    return {str(path) for path in files if not left_out & set(path.parts) and path.suffix != ".mako"}


def check_first_steps(service: Service) -> str:
    """The path to search the base that it makes."""
    created = service.create_instance(
        channelId="http-webhook",
        channelName="First",
        downStreamResourceId="agent::echo",
        config={"syncResponse": True},
    )
    hook = f"/api/agent/channels/http-webhook/{created['instanceId']}/webhook"
    with service.client() as client:
        assert client.post(hook, json={"message": "Hello", "sessionId": "42"}).json()["response"] == "Hello"
        base = client.post("/api/agent/kb", json={"name": "Gardens", "description": "Plants"}).json()["id"]
        text = {"files": ("roses.txt", b"Roses are pruned in early spring.", "text/plain")}
        uploaded = client.post(f"/api/agent/kb/{base}/uploadfile", files=text)
        assert uploaded.status_code == 201, uploaded.text
    for path in ("/console/sign-in", "/console/static/console.css", "/console/static/htmx.js", "/docs"):
        answer = httpx.get(service.base + path, trust_env=False, timeout=60)
        assert (answer.status_code, bool(answer.text)) == (200, True), path
    return f"/api/agent/kb/{base}/search"


def check_search(service: Service, path: str) -> None:
    with service.client() as client:
        found = client.post(path, json={"query": "When do I cut my flowers?"})
    assert "early spring" in found.text


@pytest.mark.model
def test_the_wheel_works_in_another_environment_and_moves_to_another_folder_by_a_backup(
    open_folder: Path, tmp_path: Path
) -> None:
    wheel = built_wheel(tmp_path)
    assert shipped(wheel) == wanted()
    program = [str(installed(wheel, tmp_path / "environment"))]
    file, new = open_folder / "backup.tar", open_folder / "new"
    default = {"EMBEDDING_PREPARE_AT_START": "true"}
    with Service(open_folder / "data", settings=default, root=None, program=program) as service:
        search = check_first_steps(service)
        looked = run_once(service.data_dir, "doctor", root=None, program=program)
        assert looked.returncode == 0, looked.stdout + looked.stderr
        assert "FAIL" not in looked.stdout
        made = run_once(service.data_dir, "backup", str(file), root=None, program=program)
        assert made.returncode == 0, made.stderr
        assert "keep it as safe as a password" in made.stderr
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        refused = run_once(service.data_dir, "restore", str(file), root=None, program=program)
        assert "a service runs on DATA_DIR" in one_line(refused)
        assert service.stop() < STOPPED_S
        assert "Traceback" not in service.output
    restored = run_once(new, "restore", str(file), root=None, program=program)
    assert restored.returncode == 0, restored.stderr
    with Service(new, root=None, program=program) as moved:
        moved.key = service.key
        check_search(moved, search)
