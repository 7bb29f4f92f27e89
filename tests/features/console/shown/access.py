from domain.access.model import Role
from domain.access.service import COMMAND
from domain.channels.messages import Identity
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import session_of


def pages(world: ServedWorld) -> list[str]:
    access = world.container.access()
    for user, name in (("admin", "Nightly export"), ("<b>bob</b>", "Ticket system of the works council")):
        world.run(access.create_key(user, Role.MEMBER, name))
    old, _ = world.run(access.create_key("admin", Role.ADMIN, "Laptop that was lost"))
    world.run(access.revoke_key(old.id))
    session_of(world, "ann")
    given = [Identity("email", "ann@example.com"), Identity("phone", "+441632960001")]
    world.run(world.container.storage().identities.give("admin", given))
    services = world.container.use_cases()
    world.run(services.teams.create(COMMAND, "Billing", []))
    for email in ("cleo@example.com", "somebody.with.a.very.long.name@subsidiary.example.com"):
        world.run(services.invitations.create(COMMAND, email, Role.RESPONDER, []))
    return [
        "/console/passkeys",
        "/console/invitations",
        "/console/keys",
        "/console/keys/sessions",
        "/console/identities",
    ]
