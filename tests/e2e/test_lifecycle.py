"""The service as a person runs it: start, stop, commands beside it, and what it says when it cannot start."""

import asyncio
import json
import os
import pwd
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from adapters.inbound.console.sessions import SESSION
from adapters.outbound.core_client.connection import CoreConnection
from adapters.outbound.system.encryption import new_key
from adapters.rpc.tables import ACCESS
from domain.access.service import SessionService
from tests.support.ports import free_port
from tests.support.service import (
    COMMAND,
    READY_S,
    STOPPED_S,
    Service,
    database_ended,
    environment,
    one_line,
    run_once,
)
from tests.support.waiting import until

pytestmark = pytest.mark.processes

CHANNELS = "/api/agent/channels"
PROMISED_S = 10.0
"""Seconds that a stop takes at most, as the documentation says."""


def status_with(service: Service, key: str) -> int:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.get(service.base + CHANNELS, headers=headers, trust_env=False, timeout=60).status_code


def console_with(service: Service, session: str) -> int:
    """The status of a page of the console that a browser with this session gets."""
    cookies = {SESSION: session}
    return httpx.get(f"{service.base}/console/keys", cookies=cookies, trust_env=False, timeout=60).status_code


def followed(service: Service, link: str) -> str:
    """The token of the session that a sign-in link opens."""

    async def token() -> str:
        core = CoreConnection(f"127.0.0.1:{service.grpc_port}")
        try:
            sign_in = ACCESS.methods(core)[SessionService, "sign_in"]
            return str((await sign_in(link.partition("?link=")[2], "192.0.2.1")).token)
        finally:
            await core.close()

    return asyncio.run(token())


def printed_link(output: str) -> str:
    [link] = re.findall(r"^  (http://localhost:\d+/console/sign-in\?link=sbl_\S+)$", output, re.MULTILINE)
    return str(link)


def test_start_stop_and_start_again(open_folder: Path) -> None:
    service = Service(open_folder / "data", terminal=True)
    with service:
        assert service.key
        assert service.key in service.output
        first_key = service.key
        assert status_with(service, first_key) == 200
        with service.client() as kept_open:
            until(lambda: kept_open.get("/readyz").status_code == 200, "it takes calls")
            terminated = service.stop(signal.SIGTERM)
        assert service.process.returncode == 0
        assert "Traceback" not in service.output
        database_ended(service.data_dir)

        service.start()
        assert "sb_" not in service.output, "the first key is shown once"
        assert console_with(service, followed(service, printed_link(service.output))) == 200
        assert status_with(service, first_key) == 200
        interrupted = service.stop(signal.SIGINT)
        assert service.process.returncode == 0
        assert "Traceback" not in service.output
        database_ended(service.data_dir)
        assert max(terminated, interrupted) < STOPPED_S
        assert min(terminated, interrupted) < PROMISED_S, "one of the two meets no busy moment of the machine"


def test_what_is_no_terminal_gets_no_credential_but_the_way_to_one(open_folder: Path) -> None:
    with Service(open_folder / "data", settings={"LOG_FORMAT": "console"}) as service:
        assert not re.search(r"sbl?_|link=", service.output)
        told = re.findall(
            r"^  switchboard ((?:keys create|console link) [^(\n]+[^ (\n])", service.output, re.MULTILINE
        )
        assert len(told) == 2
        made = [run_once(service.data_dir, *words.split()) for words in told]
        assert all(done.returncode == 0 for done in made)
        link, key = (done.stdout.strip() for done in made)
        assert console_with(service, followed(service, link)) == 200
        assert status_with(service, key) == 200


def test_logs_in_json_are_json_from_the_first_line_to_the_last(open_folder: Path) -> None:
    with Service(open_folder / "data") as service:
        second = run_once(
            service.data_dir, "up", settings={"LOG_FORMAT": "json", "HTTP_PORT": str(free_port())}
        )
        service.stop()
        lines = [json.loads(line) for line in (service.output + second.stdout + second.stderr).splitlines()]
    assert {line["role"] for line in lines} == {"up"}
    assert any("is ready" in line["event"] for line in lines)
    assert "is in use by process" in lines[-1]["event"]


def test_interrupted_while_it_starts_it_ends_quietly(open_folder: Path) -> None:
    service = Service(open_folder / "data", prepared=False)
    service.launch()
    until(lambda: (service.data_dir / "postgres").exists(), "the database is being made")
    service.stop(signal.SIGINT)
    assert service.process.returncode != 0 or "is ready" in service.output
    assert "Traceback" not in service.output
    database_ended(service.data_dir)
    with service:
        assert status_with(service, service.key or "") == 200


def test_a_killed_service_leaves_no_database_and_starts_again(open_folder: Path) -> None:
    with Service(open_folder / "data") as service:
        service.process.kill()
        service.process.wait()
        service.start()
        assert status_with(service, service.key or "") == 200
        service.process.kill()
        service.process.wait()
        database_ended(service.data_dir)


def test_keys_are_made_listed_and_revoked_beside_a_running_service(open_folder: Path) -> None:
    with Service(open_folder / "data") as service:
        made = run_once(
            service.data_dir, "keys", "create", "--user", "ann", "--name", "export", "--expires", "90"
        )
        assert made.returncode == 0, made.stderr
        key = made.stdout.strip()
        assert made.stdout == f"{key}\n"
        assert status_with(service, key) == 200
        listed = run_once(service.data_dir, "keys", "list")
        [line] = [line for line in listed.stdout.splitlines() if " ann " in line]
        assert line.endswith(" export")
        assert " expires 2" in line
        link = run_once(service.data_dir, "console", "link", "--user", "ann")
        session = followed(service, link.stdout.strip())
        assert console_with(service, session) == 200
        assert key not in listed.stdout
        assert run_once(service.data_dir, "keys", "revoke", key).returncode == 0
        until(lambda: status_with(service, key) == 401, "the revoked key is refused")
        assert console_with(service, session) == 303, "to the page that signs in"
        assert service.process.poll() is None


def test_a_key_made_without_a_running_service_opens_the_next_one(open_folder: Path) -> None:
    made = run_once(open_folder / "data", "keys", "create", "--user", "ann", "--role", "admin")
    assert made.returncode == 0, made.stderr
    database_ended(open_folder / "data")
    with Service(open_folder / "data") as service:
        assert "sb_" not in service.output
        assert status_with(service, made.stdout.strip()) == 200


def test_doctor_says_what_is_there(open_folder: Path) -> None:
    done = run_once(open_folder / "data", "doctor", seconds=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {tuple(line.split()[:2]) for line in done.stdout.splitlines()}
    assert {("ok", "settings"), ("ok", "database"), ("ok", "queue"), ("ok", "model")} <= found
    assert done.stderr == ""


def test_doctor_fails_with_what_to_mend(open_folder: Path) -> None:
    closed = f"postgresql://nobody:secret@127.0.0.1:{free_port()}/none"
    done = run_once(open_folder / "data", "doctor", settings={"DATABASE_URL": closed}, seconds=300)
    assert done.returncode == 1
    lines = {line.split()[1]: line for line in done.stdout.splitlines() if line.startswith("FAIL")}
    assert "INTERNAL_SERVICE_KEY" in lines["settings"]
    assert "the database does not answer" in lines["database"]
    assert "secret" not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_second_service_on_the_same_folder(open_folder: Path) -> None:
    with Service(open_folder / "data") as service:
        other = {"HTTP_PORT": str(free_port()), "GRPC_PORT": str(free_port())}
        line = one_line(run_once(service.data_dir, "up", settings=other))
        assert f"DATA_DIR {service.data_dir} is in use by process {service.process.pid}" in line
        assert status_with(service, service.key or "") == 200


@pytest.mark.parametrize("name", ["HTTP_PORT", "GRPC_PORT"])
def test_a_port_in_use(open_folder: Path, name: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        settings = {"HTTP_PORT": str(free_port()), "GRPC_PORT": str(free_port()), name: port}
        line = one_line(run_once(open_folder / "data", "up", settings=settings))
    assert port in line
    assert name in line
    database_ended(open_folder / "data")


def test_a_data_dir_that_cannot_be_written(open_folder: Path) -> None:
    (open_folder / "data").write_text("a file is in the way")
    line = one_line(run_once(open_folder / "data", "up", settings={"HTTP_PORT": str(free_port())}))
    assert f"DATA_DIR {open_folder}/data cannot be written" in line


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_data_dir_of_another_user(open_folder: Path) -> None:
    python = next((p for p in (sys.executable, "/usr/bin/python3") if _runs_for_nobody(p, open_folder)), None)
    if python is None:
        pytest.skip("no Python with our libraries that the user nobody may run")
    done = subprocess.run(
        [python, *COMMAND[1:], "up"],
        env=_nobodys(open_folder / "data"),
        cwd="/",
        user="nobody",
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        timeout=READY_S,
    )
    assert f"DATA_DIR {open_folder}/data cannot be written: Permission denied" in one_line(done)


def _nobodys(data_dir: Path) -> dict[str, str]:
    found = environment(data_dir, {"HTTP_PORT": str(free_port()), "PYTHONDONTWRITEBYTECODE": "1"})
    libraries = next(path for path in sys.path if path.endswith("site-packages"))
    return {
        **found,
        "PYTHONPATH": f"{found['PYTHONPATH']}:{libraries}",
        "HOME": pwd.getpwnam("nobody").pw_dir,
    }


def _runs_for_nobody(python: str, folder: Path) -> bool:
    try:
        done = subprocess.run(
            [python, "-c", "import apps.processes.standalone"],
            env=_nobodys(folder),
            cwd="/",
            user="nobody",
            extra_groups=[],
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"DATABASE_URL": "postgresql://me:hidden@127.0.0.1:1/x"}, "INTERNAL_SERVICE_KEY must be set"),
        ({"PG_BIN_DIR": "/nowhere"}, "PG_BIN_DIR /nowhere: has no postgres and no initdb"),
        ({"RESOURCES_FILE": "/nowhere.toml"}, "/nowhere.toml"),
    ],
)
def test_a_wrong_setting_is_named(open_folder: Path, settings: dict[str, str], words: str) -> None:
    ports = {"HTTP_PORT": str(free_port()), "GRPC_PORT": str(free_port())}
    line = one_line(run_once(open_folder / "data", "up", settings={**ports, **settings}))
    assert words in line
    assert "hidden" not in line


def test_a_process_on_its_own_says_what_it_lacks(open_folder: Path) -> None:
    settings = {"GRPC_PORT": str(free_port())}
    line = one_line(run_once(open_folder / "data", "core", settings=settings))
    assert "set DATABASE_URL (and REDIS_URL)" in line
    with Service(open_folder / "data") as service:
        for command in ("core", "worker"):
            line = one_line(run_once(service.data_dir, command, settings=settings))
            assert "set REDIS_URL" in line


def test_a_key_that_does_not_fit_the_database_keeps_it_from_starting(open_folder: Path) -> None:
    """Also where the folder of the secrets was lost, and another key was made."""
    with Service(open_folder / "data") as service:
        service.create_instance(channelId="http-webhook", channelName="kept", config={})
    secret = open_folder / "data" / "secrets" / "config_encryption_key"
    first = secret.read_text().strip()
    secret.unlink()
    ports = {"HTTP_PORT": str(free_port()), "GRPC_PORT": str(free_port())}
    line = one_line(run_once(open_folder / "data", "up", settings=ports))
    assert "CONFIG_ENCRYPTION_KEY" in line
    assert str(secret.parent) in line
    assert "switchboard reseal" in line
    given = {**ports, "CONFIG_ENCRYPTION_KEY": new_key()}
    line = one_line(run_once(open_folder / "data", "up", settings=given))
    assert "CONFIG_ENCRYPTION_KEY does not fit" in line, "the environment gave it, not the folder"

    done = run_once(open_folder / "data", "doctor", seconds=300)
    assert done.returncode == 1
    assert any(each.startswith("FAIL  encryption") for each in done.stdout.splitlines()), done.stdout

    both = {"CONFIG_ENCRYPTION_KEY": f"{secret.read_text().strip()},{first}"}
    assert "add that key" in one_line(run_once(open_folder / "data", "reseal"))
    assert run_once(open_folder / "data", "reseal", settings=both).returncode == 0
    with Service(open_folder / "data") as service:
        assert service.process.poll() is None
