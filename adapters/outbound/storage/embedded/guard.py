"""Run as a script: become the given user, ask to be ended with the parent, then turn into the server.

``guard.py PARENT_PID UID GID PRELOAD PROGRAM ARGUMENT...`` with UID 0 for "stay who you are". PRELOAD, where it is
not empty, are libraries (LD_PRELOAD) for the server alone: what they open must be its user's. A program of its own
and not a function between fork and exec, because the service has threads, and there nothing but exec is safe
after a fork. Ending with the parent is Linux's: elsewhere the next start ends the server that was left behind.
Uses the standard library alone.
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
    if arguments[3]:
        os.environ["LD_PRELOAD"] = arguments[3]
    os.execv(arguments[4], arguments[4:])  # noqa: S606 - the server's own program and arguments


if __name__ == "__main__":
    main(sys.argv[1:])
