"""The command line: `switchboard`, and the completion of its commands and options in a shell."""

from __future__ import annotations

import argparse
import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.version import VERSION
from domain.refusals import is_full_disk

if TYPE_CHECKING:
    from apps.settings import Settings

Command = Callable[["Settings", argparse.Namespace], int]
Parsers = dict[str, argparse.ArgumentParser]
"""By their words, such as `keys create`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the `switchboard` command; the exit status. Ends quietly when nobody reads its output any more,
    as after `switchboard keys list | head -1`."""
    try:
        try:
            return _run(arguments)
        finally:
            for stream in (sys.stdout, sys.stderr):
                if stream:
                    stream.flush()
    except BrokenPipeError:
        _discard_output()
        return 0
    except OSError as error:
        if not is_full_disk(error):
            raise
        print(
            f"switchboard: a disk is full, that of the output or of DATA_DIR: {error.strerror}",
            file=sys.stderr,
        )
        _discard_output()
        return 1


def _discard_output() -> None:
    """The interpreter flushes both streams once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if stream:
            os.dup2(nowhere, stream.fileno())


def _run(arguments: Sequence[str] | None) -> int:
    parsers = _parsers()
    options = parsers[""].parse_args(arguments)
    if "shell" in options:
        print(completion_script(options.shell, parsers), end="")
        return 0
    # Loading these takes longer than all of the above, and `--help` needs none of them.
    from apps.processes.starting import reporting
    from apps.settings_loading import load

    return reporting(lambda: int(options.run(load(), options)))


def _parsers() -> Parsers:
    program = argparse.ArgumentParser(
        prog="switchboard", description="Connects the places where people write to agents."
    )
    program.add_argument("--version", action="version", version=f"switchboard {VERSION}")
    parsers = {"": program}
    commands = program.add_subparsers(required=True, metavar="COMMAND")
    for name, meaning, run in COMMANDS:
        parsers[name] = command = commands.add_parser(name, help=meaning, description=meaning)
        command.set_defaults(run=run)
        if run is RESEAL:
            command.add_argument(
                "--drop-unreadable", action="store_true", help="remove the instances whose key is lost"
            )
    for name, meaning, add in (
        ("healthcheck", "ask the process of these settings whether it works", _add_healthcheck),
        ("backup", "write database, files and keys into one file", _add_backup),
        ("restore", "restore a backup into an empty place", _add_restore),
        ("completion", "print what a shell runs to complete these commands", _add_completion),
    ):
        parsers[name] = commands.add_parser(name, help=meaning, description=meaning)
        add(parsers[name])
    for name, meaning, add_actions in (
        ("keys", "create, list and revoke API keys", _add_keys),
        ("models", "list, fetch and choose models of search and speech", _add_models),
        ("console", "sign in to the web console", _add_console),
    ):
        parsers[name] = commands.add_parser(name, help=meaning, description=meaning)
        actions = add_actions(parsers[name])
        parsers |= {f"{name} {action}": parser for action, parser in actions.items()}
    return parsers


def _add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def _add_healthcheck(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "process",
        nargs="?",
        choices=("up", "gateway", "core", "worker"),
        help="which one; default: what listens on METRICS_PORT, else on HTTP_PORT",
    )
    parser.set_defaults(run=_lazy("apps.healthcheck.main"))


def _add_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="default: switchboard-<time>.tar in this folder"
    )
    parser.add_argument("--without-secrets", action="store_true", help="leave the generated keys out")
    parser.add_argument(
        "--check", action="store_true", help="restore FILE into a temporary place instead, and look at it"
    )
    parser.set_defaults(run=_lazy("apps.backup.main"))


def _add_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--check", action="store_true", help="restore into a temporary place, look at it, remove it"
    )
    parser.set_defaults(run=_lazy("apps.restore.main"))


def _add_keys(parser: argparse.ArgumentParser) -> Parsers:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    making = actions.add_parser("create", help="make a key; prints it alone, once")
    making.add_argument("--user", required=True, metavar="ID", help="the user whom the key stands for")
    making.add_argument("--role", choices=("user", "admin"), default="user")
    making.add_argument("--name", default="", help="what the key is for")
    making.add_argument(
        "--expires",
        metavar="DAYS|DATE",
        help="after so many days, or after a day such as 2027-01-31 (UTC); default: never",
    )
    making.set_defaults(run=_lazy("apps.commands.create"))
    listing = actions.add_parser("list", help="list the keys, without their secrets")
    listing.set_defaults(run=_lazy("apps.commands.listing"))
    revoking = actions.add_parser("revoke", help="make a key invalid at once")
    revoking.add_argument("key", metavar="ID|KEY", help="its id in the list, or the key itself")
    revoking.set_defaults(run=_lazy("apps.commands.revoke"))
    return {"create": making, "list": listing, "revoke": revoking}


def _add_models(parser: argparse.ArgumentParser) -> Parsers:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    parsers = {
        "list": actions.add_parser("list", help="list the models, which are here, and which are in use")
    }
    parsers["list"].set_defaults(run=_lazy("apps.model_commands.listing"))
    for action, meaning in (
        ("pull", "fetch a model from the hub and check it"),
        ("use", "take a model into use; knowledge bases are embedded anew in the background"),
    ):
        parsers[action] = taking = actions.add_parser(action, help=meaning, description=meaning)
        taking.add_argument("name", metavar="NAME")
        taking.set_defaults(run=_lazy(f"apps.model_commands.{action}"))
    return parsers


def _add_console(parser: argparse.ArgumentParser) -> Parsers:
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    linking = actions.add_parser("link", help="print a link that signs in once, within an hour")
    linking.add_argument("--user", required=True, metavar="ID", help="the user who signs in")
    linking.add_argument("--role", choices=("user", "admin"), help="default: the role of the user's keys")
    linking.set_defaults(run=_lazy("apps.commands.link"))
    return {"link": linking}


def _lazy(path: str) -> Command:
    """The command at `path`, whose module is imported when it runs: what it needs takes seconds to load."""
    module, _, function = path.rpartition(".")

    def run(settings: Settings, options: argparse.Namespace) -> int:
        command: Command = getattr(import_module(module), function)
        return command(settings, options)

    return run


def _migrate(settings: Settings, _: argparse.Namespace) -> int:
    from adapters.outbound.storage.migrate import revision_of
    from apps.processes.starting import a_database, migrated

    with a_database(settings) as dsn:
        print(f"the database is at {revision_of(migrated(dsn))}")
    return 0


RESEAL = _lazy("apps.commands.reseal")
COMMANDS: tuple[tuple[str, str, Command], ...] = (
    ("up", "run everything in one process", _lazy("apps.processes.standalone.main")),
    ("gateway", "run the REST gateway alone, as a client of a core", _lazy("apps.processes.gateway.main")),
    ("core", "run the gRPC core alone", _lazy("apps.processes.core.main")),
    ("worker", "run a worker alone", _lazy("apps.processes.worker.main")),
    ("migrate", "bring the database to the newest schema", _migrate),
    ("reseal", "encrypt stored configurations anew with the first CONFIG_ENCRYPTION_KEY", RESEAL),
    (
        "reindex",
        "embed knowledge bases anew after a change of the embedding model",
        _lazy("apps.commands.reindex"),
    ),
    ("doctor", "check the installation and say what to mend", _lazy("apps.doctor.main")),
)


SHELLS = ("bash", "zsh", "fish")

BASH = """\
_switchboard() {
    local word command="" words=""
    for word in "${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
        case "$command $word" in
            STEPS) command="${command:+$command }$word" ;;
        esac
    done
    case "$command ${COMP_WORDS[COMP_CWORD-1]}" in
VALUES
        *)
            case "$command" in
WORDS
            esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _switchboard switchboard
"""
ZSH = """\
whence compdef >/dev/null || { autoload -U compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit
"""
"""zsh completes as bash does, once its own completion is set up."""


def completion_script(shell: str, commands: Mapping[str, ArgumentParser]) -> str:
    """What the shell runs to know the commands. `commands`: the parsers by their words, such as `keys create`; the
    program's own has none."""
    words: dict[str, list[str]] = {}
    options: dict[str, dict[str, list[str]]] = {}
    for command, parser in commands.items():
        usage = parser.format_usage()
        choices = re.findall(r"(--[a-z-]+)?\s*\{([^}]+)\}", usage)
        words[command] = [
            other.rpartition(" ")[2] for other in commands if other and _parent(other) == command
        ]
        words[command] += [word for option, listed in choices if not option for word in listed.split(",")]
        options[command] = {option: [] for option in re.findall(r"--[a-z][a-z-]*", usage)}
        options[command] |= {option: listed.split(",") for option, listed in choices if option}
    if shell == "fish":
        return _fish(words, options)
    text = _bash(words, options)
    return f"{ZSH}{text}" if shell == "zsh" else text


def _bash(words: Mapping[str, Sequence[str]], options: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    steps = [f'"{_parent(command)} {command.rpartition(" ")[2]}"' for command in words if command]
    offered = [
        f'            "{command}") words="{" ".join([*listed, *options[command]])}" ;;'
        for command, listed in words.items()
    ]
    values = [
        f'        "{command} {option}") words="{" ".join(choices)}" ;;'
        for command, listed in options.items()
        for option, choices in listed.items()
        if choices
    ]
    text = BASH.replace("STEPS", "|".join(steps)).replace("VALUES", "\n".join(values))
    return text.replace("WORDS\n", "\n".join(offered) + "\n", 1)


def _fish(words: Mapping[str, Sequence[str]], options: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    lines = []
    for command, listed in words.items():
        seen = [f"__fish_seen_subcommand_from {word}" for word in command.split()]
        if below := [other.rpartition(" ")[2] for other in words if other and _parent(other) == command]:
            seen.append(f"not __fish_seen_subcommand_from {' '.join(below)}")
        where = f"complete -c switchboard -n '{'; and '.join(seen)}'"
        if listed:
            lines.append(f"{where} -f -a '{' '.join(listed)}'")
        for option, choices in options[command].items():
            values = f" -x -a '{' '.join(choices)}'" if choices else ""
            lines.append(f"{where} -l {option.removeprefix('--')}{values}")
    return "\n".join(lines) + "\n"


def _parent(command: str) -> str:
    return command.rpartition(" ")[0]


if __name__ == "__main__":
    sys.exit(main())
