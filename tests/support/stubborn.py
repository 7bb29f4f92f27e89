"""A process of one part that does not stop as it should; the argument says how. Run by `tests.e2e.test_shutdown`."""

import asyncio
import logging
import re
import sys
import time
from collections.abc import Callable

from apps.processes.process import Component, Phase, run, serve
from apps.processes.starting import reporting

FOR_EVER = 3600.0


class Stubborn(Component):
    name = "the stubborn one"
    phase = Phase.WORK

    def __init__(self, kind: str) -> None:
        self._kind = kind

    async def start(self) -> None:
        if self._kind == "starts for ever":
            print("up", flush=True)
            await asyncio.Event().wait()

    async def run(self) -> None:
        while True:
            try:
                await asyncio.sleep(FOR_EVER)
            except asyncio.CancelledError:
                if self._kind != "swallows cancellation":
                    raise

    async def stop(self) -> None:
        if self._kind == "ignores cancellation":
            while True:
                try:
                    await asyncio.sleep(FOR_EVER)
                except asyncio.CancelledError:
                    continue
        elif self._kind == "swallows cancellation":
            await asyncio.Event().wait()
        elif self._kind == "fails to stop":
            raise RuntimeError("it cannot")
        elif self._kind == "blocks the loop":
            time.sleep(FOR_EVER)  # noqa: ASYNC251 - this is what it is about
        elif self._kind == "blocks a thread":
            asyncio.get_running_loop().run_in_executor(None, time.sleep, FOR_EVER)
        elif self._kind == "holds the interpreter":
            re.fullmatch(
                r"(a|aa)+b", "a" * 200
            )  # one instruction of the C code, which gives the lock up never


class Clinging:
    """Does not let itself be destroyed."""

    def __del__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        sleep(FOR_EVER)


kept: list[Clinging] = []
"""What is destroyed at the end of the interpreter."""


def main(kind: str) -> int:
    logging.basicConfig(stream=sys.stderr)
    if kind == "blocks the end of the interpreter":
        kept.append(Clinging())
    return reporting(lambda: serve(run([Stubborn(kind)], lambda: print("up", flush=True))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
