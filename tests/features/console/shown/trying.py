from domain.access.model import Caller
from domain.instances.model import NewInstance
from tests.drivers.served import ServedWorld

ADMIN = Caller("admin")


def pages(world: ServedWorld) -> list[str]:
    instances = world.container.use_cases().instances
    config = {"title": "Harbour", "greeting": "Welcome to the harbour."}
    chat = world.run(instances.create(ADMIN, NewInstance("web-chat", "Website", config, "agent::echo")))
    return ["/console/try", f"/console/try?instance={chat.instance_id}"]
