"""Rules of intake."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntakeRules:
    """`require_signatures`: a call that nothing could be checked of is refused."""

    require_signatures: bool = False
