"""The command line: `switchboard`, and the completion of its commands and options in a shell."""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from adapters.version import VERSION
from domain.refusals import is_full_disk

ROLES = ("responder", "member", "admin", "user")
"""`user` is the former name of `member`."""
Parsers = dict[str, argparse.ArgumentParser]
"""By their words, such as `keys create`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the `switchboard` command; the exit status. Ends quietly when nobody reads its output any more,
    as after `switchboard keys list | head -1`."""
    try:
        try:
            parsers = _parsers()
            options = parsers[""].parse_args(arguments)
            if "shell" in options:
                print(completion_script(options.shell, parsers), end="")
                return 0
            # Loading these takes longer than all of the above, and `--help` needs none of them.
            from apps.processes.starting import reporting
            from apps.settings_loading import load

            def run() -> int:
                settings = load()
                module, _, function = options.run.rpartition(".")
                return int(getattr(import_module(module), function)(settings, options))

            return reporting(run)
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


def _parsers() -> Parsers:
    program = argparse.ArgumentParser(
        prog="switchboard", description="Connects the places where people write to agents."
    )
    program.add_argument("--version", action="version", version=f"switchboard {VERSION}")
    parsers = {"": program}
    groups = {"": program.add_subparsers(required=True, metavar="COMMAND")}

    def add(words: str, meaning: str, run: str = "") -> argparse.ArgumentParser:
        group, _, name = words.rpartition(" ")
        parsers[words] = parser = groups[group].add_parser(name, help=meaning, description=meaning)
        if run:
            parser.set_defaults(run=run)
        return parser

    def add_group(name: str, meaning: str) -> None:
        groups[name] = add(name, meaning).add_subparsers(required=True, metavar="ACTION")

    for command in COMMANDS:
        add(*command)
    parsers["reseal"].add_argument(
        "--drop-unreadable", action="store_true", help="remove the instances whose key is lost"
    )
    check = add("healthcheck", "ask the process of these settings whether it works", "apps.healthcheck.main")
    check.add_argument(
        "process",
        nargs="?",
        choices=("up", "gateway", "core", "worker"),
        help="which one; default: what listens on METRICS_PORT, else on HTTP_PORT",
    )
    backup = add("backup", "write database, files and keys into one file", "apps.backup.main")
    backup.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="default: switchboard-<time>.tar in this folder"
    )
    backup.add_argument("--without-secrets", action="store_true", help="leave the generated keys out")
    backup.add_argument(
        "--check", action="store_true", help="restore FILE into a temporary place instead, and look at it"
    )
    restore = add("restore", "restore a backup into an empty place", "apps.backup.restore")
    restore.add_argument("file", type=Path, metavar="FILE")
    restore.add_argument(
        "--check", action="store_true", help="restore into a temporary place, look at it, remove it"
    )
    completion = add("completion", "print what a shell runs to complete these commands")
    completion.add_argument("shell", choices=SHELLS)

    add_group("keys", "create, list and revoke API keys")
    create = add("keys create", "make a key; prints it alone, once", "apps.commands.create")
    create.add_argument("--user", required=True, metavar="ID", help="the user whom the key stands for")
    create.add_argument("--role", choices=ROLES, default="member", metavar="{responder,member,admin}")
    create.add_argument("--name", default="", help="what the key is for")
    create.add_argument(
        "--expires",
        metavar="DAYS|DATE",
        help="after so many days, or after a day such as 2027-01-31 (UTC); default: never",
    )
    create.add_argument(
        "--scopes",
        default="",
        metavar="SCOPE,...",
        help="what the key may be used for; default: all of the role",
    )
    add("keys list", "list the keys, without their secrets", "apps.commands.listing")
    revoke = add("keys revoke", "make a key invalid at once", "apps.commands.revoke")
    revoke.add_argument("key", metavar="ID|KEY", help="its id in the list, or the key itself")

    add_group("audit", "check the audit log")
    verify = add("audit verify", "check that no entry was changed or removed", "apps.commands.verify_audit")
    verify.add_argument(
        "--expect", default="", metavar="ID:HASH", help="an entry that an earlier check printed must be there"
    )

    add_group("models", "list, fetch and choose models of search and speech")
    add(
        "models list",
        "list the models, which are here, and which are in use",
        "apps.model_commands.listing",
    )
    for action, meaning in (
        ("pull", "fetch a model from the hub and check it"),
        ("use", "take a model into use; knowledge bases are embedded anew in the background"),
    ):
        taking = add(f"models {action}", meaning, f"apps.model_commands.{action}")
        taking.add_argument("name", metavar="NAME")

    add_group("console", "sign in to the web console")
    link = add("console link", "print a link that signs in once, within an hour", "apps.commands.link")
    link.add_argument("--user", required=True, metavar="ID", help="the user who signs in")
    link.add_argument(
        "--role",
        choices=ROLES,
        metavar="{responder,member,admin}",
        help="default: the role of the user's keys",
    )
    link.add_argument(
        "--reset",
        action="store_true",
        help="remove the user's passkeys and the account at the OpenID provider first: they are lost",
    )
    return parsers


COMMANDS = (
    ("up", "run everything in one process", "apps.processes.standalone.main"),
    ("gateway", "run the REST gateway alone, as a client of a core", "apps.http_gateway.main.main"),
    ("core", "run the gRPC core alone", "apps.grpc_server.main.main"),
    ("worker", "run a worker alone", "apps.processes.worker.main"),
    ("migrate", "bring the database to the newest schema", "apps.commands.migrate"),
    (
        "reseal",
        "encrypt stored configurations anew with the first CONFIG_ENCRYPTION_KEY",
        "apps.commands.reseal",
    ),
    (
        "reindex",
        "embed knowledge bases anew after a change of the embedding model",
        "apps.commands.reindex",
    ),
    ("doctor", "check the installation and say what to mend", "apps.doctor.main"),
)
"""Their names, what they do, and the functions that run them."""

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


def completion_script(shell: str, commands: Parsers) -> str:
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
