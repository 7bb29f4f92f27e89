from tests.drivers.served import ServedWorld


def pages(world: ServedWorld) -> list[str]:
    return ["/console"]
