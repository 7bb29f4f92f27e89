"""A configuration to be checked, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class ConfigDraft:
    """What somebody has written into a form, wholly or in part.

    `instance_id` names an instance that is changed: its channel counts, and its stored secrets stand for those that
    `config` leaves out. `config` None: as it is stored. `channel_name` None: not checked.
    """

    channel_id: str = ""
    config: Mapping[str, object] | None = None
    channel_name: str | None = None
    resource_id: str | None = None
    instance_id: int | None = None


class CredentialsState(StrEnum):
    """How a check of credentials ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    NOTHING_TO_CHECK = "nothing-to-check"


@dataclass(frozen=True, slots=True)
class CredentialsCheck:
    """`message` is in the platform's words where it refused; `action` says what to do, empty for nothing."""

    state: CredentialsState
    message: str
    action: str = ""

    @property
    def accepted(self) -> bool:
        return self.state is CredentialsState.ACCEPTED
