"""Requests to downstream resources, their answers, trials of resources, and the limit on loops.

A loop is a conversation in which the service and a machine answer each other. A *round* is an event of a
conversation that arrived after a reply to an earlier event of it. Events that one poll returns count as one round.
Only events that no person is known to have caused count: records, mails and files that look like answers, and
messages of senders who may be machines. Messages of users of a chat platform, other files, calls of a webhook and
firings of a schedule do not count, and reset the count.

A machine that answers mail may begin a new conversation each time, as absence notices do: for mail the rounds of
all conversations with one address count as well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from domain.channels.answers import Choice
from domain.channels.messages import ThreadMessage
from domain.channels.model import Proof
from domain.channels.provenance import Citation
from domain.channels.provenance import Usage as Usage
from domain.channels.rich import ConversationChange, RichContent
from domain.confirmations.policy import SENDER, ApprovalRule, rule_for, strictest
from domain.usage.model import UsageMeter
from domain.values import value


class ResourceKind(StrEnum):
    """What a resource id may name."""

    AGENT = "agent"
    APP = "app"
    WORKFLOW = "workflow"
    FUNCTION = "function"

    @property
    def has_experts(self) -> bool:
        """Return True if its ids end with the index of an expert."""
        return self in (ResourceKind.AGENT, ResourceKind.APP)


@dataclass(frozen=True, slots=True)
class Resource:
    """A downstream resource. `expert_index` is None for workflows and functions."""

    kind: ResourceKind
    id: str
    expert_index: int | None = None

    def __str__(self) -> str:
        """The canonical text form: prefix and expert index spelt out."""
        suffix = "" if self.expert_index is None else f"_{self.expert_index}"
        return f"{self.kind}::{self.id}{suffix}"

    @property
    def without_expert(self) -> str:
        """Names all experts of it together."""
        return f"{self.kind}::{self.id}"


@value
class RunSender:
    """Who wrote; `user_id` is the platform user when the sender is verified. `verified_by`: who proved it, None for a
    sender without a proved identity."""

    external_id: str
    display_name: str = ""
    user_id: str | None = None
    verified_by: Proof | None = None


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that came with the message; `url` is signed and expires. `size` in bytes."""

    name: str
    mime_type: str
    size: int
    url: str


@dataclass(frozen=True, slots=True)
class QuotedMessage:
    """The message that the sender replied to. `author` is a name, the platform's id of a person without a name, or
    'resource' for a message of the instance."""

    text: str
    author: str
    files: tuple[InputFile, ...] = ()


APPROVED = "approved"
APPROVED_FOR_SESSION = "approved_for_session"
REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Approval:
    """How somebody decided on a tool: `decision` is one of the three words above. `parameters`: those that were
    shown, as several questions about a tool may be open; None if they are not known."""

    confirmation_id: str
    tool: str
    decision: str
    parameters: Mapping[str, object] | None = None

    @property
    def permits(self) -> bool:
        """Return True if the tool may be used."""
        return self.decision != REJECTED

    def is_about(self, tool: str, parameters: Mapping[str, object] | None) -> bool:
        """Return True for the use of a tool that was decided: nobody may approve one and have another one run."""
        return tool == self.tool and self.parameters in (None, parameters)


Progress = Callable[[Callable[[], str]], None]
"""Hears of an answer that is being made, each time that there is more of it; what it gets gives the whole text so
far. A try that fails is followed by one that begins anew."""


@value
class RunRequest:
    """One message for a resource.

    `owner` is the user whom the instance belongs to: what a built-in resource may read is what this user may
    read; it is not handed to resources outside. `thread` holds earlier messages of a thread into which the bot is
    called, the oldest first. `choice`: the sender picked what was offered, or pressed a button. `reaction`: the
    sender reacted to a message with this emoji, and wrote nothing. `context` is what else the platform says of the
    message, a JSON object with the keys of `domain.channels.context`. `form` is what the sender filled in, a JSON
    object with the `name` of the form, where it has one, and the `values` by field; `text` lists them then.
    `timeout` bounds the whole run, retries included, in seconds.
    `approval_policy` is that of the instance, and on its way to an agent that of the agent: tools that it names are
    not used without an approval.
    `progress` hears of the answer of a resource that gives it in pieces. `inbox_id` is the stored message, for what
    is kept of it here. `usage_meter` counts what the runs for the message take.
    """

    resource: Resource
    request_id: str
    instance_id: int
    channel_id: str
    session_id: str
    sender: RunSender
    text: str
    owner: str
    files: tuple[InputFile, ...] = ()
    quoted: QuotedMessage | None = None
    thread: tuple[ThreadMessage, ...] = ()
    approval: Approval | None = None
    approved_tools: tuple[str, ...] = ()
    choice: bool = False
    reaction: str = ""
    context: Mapping[str, object] = field(default_factory=dict)
    form: Mapping[str, object] = field(default_factory=dict)
    approval_policy: tuple[ApprovalRule, ...] = ()
    timeout: float = 120.0
    progress: Progress | None = field(default=None, compare=False, repr=False)
    inbox_id: int | None = field(default=None, compare=False, repr=False)
    usage_meter: UsageMeter = field(default_factory=UsageMeter, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ResultArtifact:
    """A file in a result: either an address where it can be fetched, or its bytes."""

    name: str
    mime_type: str
    url: str | None = None
    data: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if (self.url is None) == (self.data is None):
            raise ValueError("an artifact has either a url or data")


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A tool that the resource wants to use and that a person has to approve first. `by` and `minutes` as in
    `ApprovalRule`."""

    tool: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    by: str = SENDER
    minutes: int | None = None

    def under(self, policy: Sequence[ApprovalRule]) -> "Confirmation":
        """The same under a policy: the stricter of both counts."""
        own = ApprovalRule(self.tool, self.by, self.minutes)
        rule = strictest(rule_for(policy, self.tool), own) or own
        return replace(self, by=rule.by, minutes=rule.minutes)


def summed(*usages: Usage | None) -> Usage | None:
    """The sum of those that are known; None if none is."""
    known = [usage for usage in usages if usage is not None]
    return sum(known[1:], known[0]) if known else None


@value
class RunResult:
    """What a resource answered: Markdown text, files, a confirmation when it needs one, replies to choose from.
    `wants_person`: a person is to take the conversation over. `citations`: what the text relies on. `unsearched`: the
    model could search knowledge bases, and did not. `rich`: links, cards, a location, a contact, a form. `silent`:
    nothing is sent. `change`: what is done to the conversation. `usage`: None if the
    resource does not tell it. `unconnected`: nothing runs behind the id, which the text says."""

    text: str
    artifacts: tuple[ResultArtifact, ...] = ()
    confirmation: Confirmation | None = None
    choices: tuple[Choice, ...] = ()
    wants_person: bool = False
    citations: tuple[Citation, ...] = ()
    unsearched: bool = False
    rich: RichContent | None = None
    silent: bool = False
    change: ConversationChange | None = None
    usage: Usage | None = None
    unconnected: bool = False


@dataclass(frozen=True, slots=True)
class RunDelta:
    """A piece of a result on its way: texts are joined, artifacts collected, usages added up, of confirmations,
    choices, changes and each part of rich content the last count, and one `wants_person` or `silent` is enough. With
    `replaces` its text takes the place of all before it."""

    text: str = ""
    artifacts: tuple[ResultArtifact, ...] = ()
    confirmation: Confirmation | None = None
    choices: tuple[Choice, ...] = ()
    wants_person: bool = False
    citations: tuple[Citation, ...] = ()
    replaces: bool = False
    unsearched: bool = False
    rich: RichContent | None = None
    silent: bool = False
    change: ConversationChange | None = None
    usage: Usage | None = None


@value
class AgentTask:
    """A task that a resource works on after the time of the run: it began with the request `request_id`, and its
    result is sent first. `polls`: how often it was asked for. `overdue`: it takes longer than `TASK_HOURS`."""

    instance_id: int
    session_id: str
    resource: Resource
    request_id: str
    task_id: str
    inbox_id: int | None = None
    polls: int = 0
    overdue: bool = False


TASK_HOURS = 24
"""How long the result of a task is waited for."""
TAKES_LONGER = "This takes longer. The answer comes here when it is ready."


RULE, AGENT, BUILTIN, DEFAULT, NOTHING = "rule", "agent", "built-in", "default", "nothing"
"""What takes a resource id: a rule of the file, a stored agent, a built-in, DOWNSTREAM_URL, or nothing."""


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """What runs behind the ids that `match` fits. It holds no secret: `target` is an address without user, password,
    values of the query and long parts of the path. `line` is that of the rules file, 0 for what stands in none;
    `seconds` bounds a message, retries included; `knowledge` holds the ids of the bases that a model may search, and
    `mcp_servers` the names of the MCP servers whose tools it may use.
    `agent_id`: of a stored agent, 0 for others."""

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
    mcp_servers: tuple[str, ...] = ()
    agent_id: int = 0


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
    """What a resource answered: its text, at most the beginning of it, names of files, labels of choices, the tool
    that it asks to use, and the tokens that it took. `error` in place of all where it gave no answer. `seconds` is
    how long that took."""

    text: str = ""
    files: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    tool: str = ""
    wants_person: bool = False
    error: str = ""
    seconds: float = 0.0
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ResourceTrial:
    """What takes a resource id (`source`, `kind`; `rule` for admins alone), and its answer where it was asked."""

    resource: str
    source: str
    kind: str
    rule: ResourceRule | None = None
    answer: TrialAnswer | None = None


MOST_ROUNDS = 12
"""Rounds within `WINDOW` that are answered."""
WINDOW = 60.0
"""Seconds; so long must a stopped conversation have been silent before it is answered again."""

STOPPED = (
    f"stopped a loop: the conversation had more than {MOST_ROUNDS} rounds of event and answer within a minute "
    "without a message of a person; it is answered again after a minute without events"
)


class LoopStopped(Exception):
    """An event that is not answered, as its conversation runs in a loop."""
