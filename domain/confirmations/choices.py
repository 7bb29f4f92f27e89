"""Former place, for `domain.routing.asking.service` until it uses the new one."""

from domain.confirmations.rules import is_approval

__all__ = ["is_approval"]
