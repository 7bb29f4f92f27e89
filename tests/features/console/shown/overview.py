from __future__ import annotations

from tests.drivers.served import ServedWorld


def pages(world: ServedWorld) -> list[str]:
    return ["/console"]
