"""A connection pooler in front of the database."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.ports import free_port
from tests.support.service import one_line, run_once
from tests.support.waiting import until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="pgbouncer is not installed"),
]


def test_a_pooler_without_sessions_is_refused_in_one_line(
    open_folder: Path, external_settings: dict[str, str], tcp_server: tuple[str, int]
) -> None:
    port, users, config = free_port(), open_folder / "users", open_folder / "pgbouncer.ini"
    users.write_text('"app" "sesame"\n')
    config.write_text(
        f"[databases]\n* = host=127.0.0.1 port={tcp_server[1]}\n[pgbouncer]\nlisten_addr=127.0.0.1\n"
        f"listen_port={port}\nunix_socket_dir=\nauth_type=plain\nauth_file={users}\npool_mode=transaction\n"
    )
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    with subprocess.Popen(["pgbouncer", "-q", *user, str(config)], stderr=subprocess.PIPE) as pooler:
        pooled = external_settings["DATABASE_URL"].replace(f":{tcp_server[1]}/", f":{port}/")
        lines: list[str] = []

        def refused() -> bool:
            """Once the pooler listens."""
            settings = {**external_settings, "DATABASE_URL": pooled, "GRPC_PORT": str(free_port())}
            lines.append(one_line(run_once(open_folder / "data", "core", settings=settings)))
            return "Connection refused" not in lines[-1]

        until(refused, "the pooler answers")
        pooler.terminate()
    assert "a connection pooler in transaction mode" in lines[-1]
    assert "pool_mode = session" in lines[-1]
