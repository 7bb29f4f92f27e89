from domain.access.model import Caller, Role
from domain.instances.model import NewInstance
from tests.drivers.served import ServedWorld

ADMIN = Caller("admin", Role.ADMIN)
HOOK = NewInstance("http-webhook", "Shop <b>support</b>", {"webhookSecret": "s3cret"}, "agent::echo")
CHAT = NewInstance("web-chat", "Shop window", {"allowedOrigins": "https://shop.example"}, "agent::echo")
BOT = NewInstance("enterprise-chat", "Team bot", {})


def pages(world: ServedWorld) -> list[str]:
    instances = world.container.use_cases().instances
    hook, bot, chat = (world.run(instances.create(ADMIN, new)).instance_id for new in (HOOK, BOT, CHAT))
    return [
        "/console/channels",
        "/console/channels/new",
        "/console/channels/new?q=pigeon",
        "/console/channels/new/workspace-chat",
        "/console/channels/new/sms-provider",
        f"/console/channels/{hook}",
        f"/console/channels/{bot}",
        f"/console/channels/{chat}",
        f"/console/channels/{hook}/edit",
    ]
