"""Prints what one Slack message enters in the running service: files, classes and functions of the product.

python -m bench.trace [--files]

Starts `switchboard up` under a profiler of all its threads, lets one message warm it up, watches it idle, and sends
three more messages, each in a conversation of its own, that the resource `agent::echo` answers. What is printed is
what each of the three entered from its callback to its delivered reply, without what the idle service enters as well.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from types import CodeType, FrameType

import uvloop

from bench.acknowledgement import HOOK, instances
from bench.database import running_database
from bench.end_to_end import slack_request
from bench.exchange import Exchange
from bench.measuring import ROOT, free_port
from bench.start import running

PRODUCT = tuple(str(ROOT / folder) + os.sep for folder in ("adapters", "apps", "domain", "ports"))
IDLE_SECONDS = 15.0
QUIET_SECONDS = 2.0
"""Within these after its reply, all that a message causes has ended."""
MESSAGES = 3

Function = tuple[str, int, str]
"""File, first line, qualified name."""
Window = tuple[float, float]
"""From when to when, as `time.monotonic` of any process counts."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", action="store_true", help="print files alone")
    parser.add_argument("--service", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    options, command = parser.parse_known_args()
    if options.service:
        return profiled_service(options.service, command)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "entries.json"
        idle, messages = send_messages(file)
        entries = [((path, line, name), times) for path, line, name, times in json.loads(file.read_text())]
    show(entered(entries, idle, messages), files_only=options.files)
    return 0


def profiled_service(file: Path, command: list[str]) -> int:
    """Run `switchboard COMMAND`; at its end write when it entered each function of the product."""
    from apps import cli

    entries: dict[CodeType, list[float]] = {}
    of_product: dict[str, bool] = {}

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        path = frame.f_code.co_filename
        if path not in of_product:
            of_product[path] = path.startswith(PRODUCT)
        if of_product[path]:
            entries.setdefault(frame.f_code, []).append(time.monotonic())

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        return cli.main(command)
    finally:
        sys.setprofile(None)
        rows = [
            (str(Path(code.co_filename).relative_to(ROOT)), code.co_firstlineno, code.co_qualname, times)
            for code, times in entries.items()
        ]
        file.write_text(json.dumps(rows))


def send_messages(file: Path) -> tuple[Window, list[Window]]:
    """Run the service and send it the messages: when it was idle, and when it was busy with each message."""
    port = free_port()
    with running_database() as database, asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        dsn = database.fresh("trace")
        _, slack = asyncio.run(instances(dsn))
        path = HOOK(port, "workspace-chat", slack).removeprefix(f"http://127.0.0.1:{port}")
        platform = Exchange(partial(slack_request, path))

        def send() -> Window:
            began = time.monotonic()
            loop.run(platform.connect(port, 1))
            loop.run(platform.at_once(1, 1))
            time.sleep(QUIET_SECONDS)
            return began, time.monotonic()

        address = f"http://127.0.0.1:{loop.run(platform.serve())}"
        settings = {
            "DATABASE_URL": dsn,
            "HTTP_PORT": str(port),
            "WORKSPACE_CHAT_API_URL": address,
            "OUTBOUND_POLICY": "open",
        }
        with running("up", program=["bench.trace", f"--service={file}"], **settings):
            send()
            began = time.monotonic()
            time.sleep(IDLE_SECONDS)
            idle = began, time.monotonic()
            return idle, [send() for _ in range(MESSAGES)]


def entered(
    entries: list[tuple[Function, list[float]]], idle: Window, messages: list[Window]
) -> list[Function]:
    """The functions that each message entered and the idle service did not, in the order of the last message."""

    def within(window: Window, times: list[float]) -> list[float]:
        return [at for at in times if window[0] <= at < window[1]]

    first = {
        function: within(messages[-1], times)[0]
        for function, times in entries
        if not within(idle, times) and all(within(message, times) for message in messages)
    }
    return sorted(first, key=first.__getitem__)


def show(functions: list[Function], *, files_only: bool) -> None:
    named = [(path, line, name) for path, line, name in functions if not name.endswith(">")]
    if files_only:
        for path, count in Counter(path for path, _, _ in named).items():
            print(f"{count:4} {path}")
    else:
        for path, line, name in named:
            print(f"{path}:{line} {name}")
    classes = {(path, name.rpartition(".")[0]) for path, _, name in named if is_method(name)}
    print(f"{len({path for path, _, _ in named})} files, {len(classes)} classes, {len(named)} functions")


def is_method(name: str) -> bool:
    """Return True if a qualified name is that of a class's function, not of a module's or a nested one."""
    owner = name.rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>")


if __name__ == "__main__":
    sys.exit(main())
