"""Rules of intake."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallbackRules:
    """`require_signatures`: a call that nothing could be checked of is refused. `max_body_kb`: the largest body."""

    require_signatures: bool
    max_body_kb: int
