from tests.drivers.served import ServedWorld
from tests.features.console.talks import Talks


def pages(world: ServedWorld) -> list[str]:
    talks = Talks(world, "admin")
    talks.fill()
    message = talks.messages("ada")[1]["id"]
    talks.close()
    conversations = [talks.address(who) for who in ("ada", "bert", "carl")]
    return [
        "/console/inbox",
        "/console/inbox?query=nothing-like-it",
        *conversations,
        f"{conversations[0]}?message={message}",
    ]
