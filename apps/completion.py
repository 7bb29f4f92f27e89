"""Completion of commands and options in a shell, read off the usage of each command."""

import re
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence

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


def script(shell: str, commands: Mapping[str, ArgumentParser]) -> str:
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
