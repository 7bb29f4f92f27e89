"""Run as a script: become the given user, ask to be ended with the parent, then turn into the server.

``guard.py PARENT_PID UID GID PROGRAM ARGUMENT...`` with UID 0 for "stay who you are". A program of its own
and not a function between fork and exec, because the service has threads, and there nothing but exec is safe
after a fork. Uses the standard library alone. Ending with the parent is Linux's: elsewhere the next start
ends the server that was left behind.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    parent, uid, gid = (int(text) for text in arguments[:3])
    if uid:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        # After setuid, which would clear it. SIGINT is PostgreSQL's fast shutdown.
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("the parent ended before the server began")
    os.umask(0o077)
    os.execv(arguments[3], arguments[3:])  # noqa: S606 - the server's own program and arguments


if __name__ == "__main__":
    main(sys.argv[1:])
