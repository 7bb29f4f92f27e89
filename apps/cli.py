"""The command line: `switchboard`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from apps.settings import Settings, load
from apps.starting import reporting


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the `switchboard` command; the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    return reporting(lambda: int(options.run(load(), options)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="switchboard", description="Connects chats to agents.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, meaning, run in (("up", "run everything in one process", _up),):
        commands.add_parser(name, help=meaning, description=meaning).set_defaults(run=run)
    return parser


def _up(settings: Settings, _: argparse.Namespace) -> int:
    from apps.standalone.main import main as up

    return up(settings)


if __name__ == "__main__":
    sys.exit(main())
