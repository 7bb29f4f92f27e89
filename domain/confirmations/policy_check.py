"""Checks that those exist whom a policy names."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.confirmations.policy import USER, ApprovalRule, team_of
from domain.refusals import Fault, Invalid
from ports.access import TeamStore, UserStore


@dataclass(eq=False)
class ApproverCheck:
    users: UserStore
    teams: TeamStore

    async def check(self, policy: Sequence[ApprovalRule] | None) -> None:
        """Raises `Invalid`."""
        faults = [
            Fault(f"approvalPolicy[{at}].by", f"there is no {rule.by}")
            for at, rule in enumerate(policy or ())
            if not await self.exists(rule.by)
        ]
        if faults:
            raise Invalid.of(faults)

    async def exists(self, approver: str) -> bool:
        """Return True for the sender, and for a user or a team that is there."""
        if (team := team_of(approver)) is not None:
            return await self.teams.find(team) is not None
        if approver.startswith(USER):
            return await self.users.find(approver.removeprefix(USER)) is not None
        return True
