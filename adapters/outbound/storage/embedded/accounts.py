"""The account that the server runs as: our own, or an unprivileged one when we are root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from adapters.outbound.storage.embedded.errors import EmbeddedPostgresError

UNPRIVILEGED = "nobody"


@dataclass(frozen=True, slots=True)
class Account:
    """A user and group id; `demoted` when it is not the one we run as."""

    uid: int
    gid: int
    demoted: bool

    def run(
        self, command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command as this account; output and errors together in `stdout`."""
        return subprocess.run(  # noqa: S603 - our own commands, no shell
            command,
            cwd=cwd,
            env=env,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            user=self.uid if self.demoted else None,
            group=self.gid if self.demoted else None,
            extra_groups=[] if self.demoted else None,
        )

    def can_enter(self, folder: Path) -> bool:
        """True if this account may pass through `folder` and all of its parents (access lists included)."""
        if not self.demoted:
            return True
        try:
            return self._passes(folder)
        except (OSError, subprocess.SubprocessError) as error:
            raise EmbeddedPostgresError(
                f"this root user may not act as another user ({_reason(error)}), "
                "and PostgreSQL refuses to run as root: "
                "start Switchboard as an ordinary user or set DATABASE_URL"
            ) from None

    def _passes(self, folder: Path) -> bool:
        """A shell that was killed, or that found no memory, says neither yes nor no; it is asked once more."""
        command = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(folder)]
        status = self.run(command, cwd=Path("/")).returncode
        return (status if status in (0, 1) else self.run(command, cwd=Path("/")).returncode) == 0


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def account_for(cluster: Path) -> Account:
    """The account for the folder `cluster`: its owner if it is there, else ours or, for root, `nobody`."""
    try:
        owner = cluster.stat()
    except FileNotFoundError:
        return _fresh_account()
    except OSError as error:
        raise EmbeddedPostgresError(f"cannot read {cluster}: {error.strerror}") from None
    if os.geteuid() == 0:
        if owner.st_uid == 0:
            raise EmbeddedPostgresError(f"{cluster} belongs to root, but PostgreSQL refuses to run as root")
        return Account(owner.st_uid, owner.st_gid, demoted=True)
    if owner.st_uid != os.geteuid():
        raise EmbeddedPostgresError(
            f"{cluster} belongs to another user (uid {owner.st_uid}): start as that user or root"
        )
    return Account(owner.st_uid, owner.st_gid, demoted=False)


def _fresh_account() -> Account:
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), demoted=False)
    try:
        entry = pwd.getpwnam(UNPRIVILEGED)
    except KeyError:
        raise EmbeddedPostgresError(
            f"PostgreSQL refuses to run as root and there is no account {UNPRIVILEGED!r} here: "
            "start Switchboard as an ordinary user or set DATABASE_URL"
        ) from None
    return Account(entry.pw_uid, entry.pw_gid, demoted=True)
