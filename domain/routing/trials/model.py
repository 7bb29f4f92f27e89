"""What stands behind resource ids, and how a resource was tried."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

RULE, BUILTIN, DEFAULT, NOTHING = "rule", "built-in", "default", "nothing"
"""What takes a resource id: a rule of the file, a built-in, DOWNSTREAM_URL, or nothing."""


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """What runs behind the ids that `match` fits. It holds no secret: `target` is an address without user, password,
    values of the query and long parts of the path. `line` is that of the rules file, 0 for what stands in none;
    `seconds` bounds a message, retries included; `knowledge` holds the ids of the bases that a model may search."""

    source: str
    match: str
    kind: str
    target: str
    seconds: float
    line: int = 0
    model: str = ""
    tools: tuple[str, ...] = ()
    has_token: bool = False
    knowledge: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceRules:
    """The rules in force, in the order in which they are tried. `file` is empty without a rules file. `fault`: the
    file was changed, and cannot be used as it is; the rules from before stay in force."""

    rules: Sequence[ResourceRule]
    file: str = ""
    read_at: datetime | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """What a resource answered: its text, at most the beginning of it, names of files, labels of choices, and the
    tool that it asks to use. `error` in place of all where it gave no answer. `seconds` is how long that took."""

    text: str = ""
    files: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    tool: str = ""
    wants_person: bool = False
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ResourceTrial:
    """What takes a resource id (`source`, `kind`; `rule` for admins alone), and its answer where it was asked."""

    resource: str
    source: str
    kind: str
    rule: ResourceRule | None = None
    answer: TrialAnswer | None = None
