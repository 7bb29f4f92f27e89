"""One of everything that pages show, with a text of a stranger in each field that a stranger can fill."""

import hashlib

from adapters.inbound.console.navigation import conversation_path
from domain.access.model import Caller, Role
from domain.access.service import COMMAND
from domain.channels.answers import Choice
from domain.channels.messages import Attachment, Event, Identity, Sender
from domain.instances.model import Activity, NewInstance
from domain.monitoring.model import DeadLetterId
from domain.routing.model import Confirmation, ResultArtifact, RunRequest, RunResult
from domain.subscriptions.model import SubscriptionFields
from ports.sign_in import NewPasskey
from tests.drivers.receiver import Receiver
from tests.drivers.resource import Resource
from tests.drivers.served import ServedWorld
from tests.drivers.ways import Rest
from tests.features.console.shown.operations import answer, question
from tests.features.console.talks import BUSY
from tests.support.waiting import until

PUSH = """
INSERT INTO outbox (instance_id, session_key, message, target, key, status, attempts, last_error)
VALUES (%s, '', '{"event": 41}', '{}', 'push', 2, 3, %s) RETURNING id
"""
KB = "/api/agent/kb"


class Furnished:
    """What a user has; `text` stands everywhere. `parameters` are the values of the parameters of paths."""

    def __init__(self, world: ServedWorld, user: str, role: Role, text: str) -> None:
        self.world = world
        self.caller = Caller(user, role)
        self.text = text
        self.key = world.key_of(user, role)
        receiver = Receiver(world)
        instance = self._bot(receiver.url)
        self._talk(instance)
        receiver.close()
        base, file = self._knowledge()
        subscription, push = world.run(self._subscription())
        world.run(self._identity_and_schedule())
        key, _ = world.run(world.container.access().create_key(user, Role.MEMBER, text[:100]))
        session = conversation_path(instance, text).rpartition("/")[2]
        self.parameters = {
            "instance": str(instance),
            "session": session,
            "message": self._problem(instance),
            "base": base,
            "file": file,
            "source": str(world.run(self._source(int(base)))),
            "key": str(key.id),
            "subscription": str(subscription),
            "push": str(push),
            "invitation": str(world.run(self._invitation())),
            "passkey": str(world.run(self._passkey())),
        }

    async def _invitation(self) -> int:
        invitations = self.world.container.use_cases().invitations
        return (await invitations.create(COMMAND, "cleo@example.com", Role.MEMBER, [])).invitation.id

    async def _passkey(self) -> int:
        new = NewPasskey(self.caller.user_id, b"credential", b"key", 0, self.text[:100])
        passkey = await self.world.container.storage().passkeys.add(new, self.world.clock.now())
        assert passkey is not None
        return passkey.id

    def _bot(self, address: str) -> int:
        new = NewInstance("http-webhook", self.text[:200], {"responseWebhookUrl": address}, "agent::stranger")
        services = self.world.container.use_cases()
        return self.world.run(services.instances.create(self.caller, new)).instance_id

    def _talk(self, instance: int) -> None:
        """A question with a file, an answer with a file and choices, and the question of a tool."""
        Resource(self.world, self._script)
        inbox, fetch = self.world.container.storage().inbox, self.world.container.database().fetch_value
        for number, words in enumerate((self.text, "tool")):
            sender = Sender(self.text, self.text)
            attachment = Attachment(self.text, "text/plain", {}, 3)
            event = Event(f"event-{number}", self.text, sender, words, {}, (attachment,))
            self.world.run(inbox.add(instance, [event]))
        until(lambda: self.world.run(fetch(BUSY)) == 0, "all is answered")
        question(self.world, instance, self.text, error=f"the resource said: {self.text}")
        answer(self.world, instance, self.text, error=f"HTTP 400: {self.text}")
        health = self.world.container.storage().health
        for activity in Activity:
            self.world.run(health.failed(instance, activity, self.text))

    def _script(self, request: RunRequest) -> RunResult:
        if request.text == "tool":
            return RunResult(self.text, confirmation=Confirmation(self.text[:100], {self.text: self.text}))
        artifact = ResultArtifact(self.text, "text/html", data=self.text.encode())
        return RunResult(self.text, (artifact,), choices=(Choice(self.text, self.text),))

    def _problem(self, instance: int) -> str:
        letters = self.world.container.use_cases().monitoring.dead_letters
        page = self.world.run(letters.list(self.caller, None, None, 50, None))
        return DeadLetterId(instance, page.items[0].message.id).message_id

    def _knowledge(self) -> tuple[str, str]:
        rest = Rest(self.world)
        headers = {"authorization": f"Bearer {self.key}"}
        body = {"name": self.text[:200], "description": self.text}
        base = rest.request("POST", KB, json=body, headers=headers).json()["id"]
        content = f"# {self.text}\n\n{self.text} in a file\n".encode()
        name = f"{self.text.replace('/', '')}.md"
        files = [("file", (name, content))]
        made = rest.request("POST", f"{KB}/{base}/uploadfile", files=files, headers=headers)
        assert made.status_code == 201, made.text
        rest.close()
        return str(base), hashlib.sha256(content).hexdigest()

    async def _source(self, base: int) -> int:
        services = self.world.container.use_cases()
        url = f"http://127.0.0.1:9/{self.text[:200].replace(' ', '/')}"
        return (await services.sources.add_pages(self.caller, base, url, None)).id

    async def _subscription(self) -> tuple[int, int]:
        fields = SubscriptionFields("http://127.0.0.1:9/events")
        view = await self.world.container.use_cases().subscriptions.create(self.caller, fields)
        database, subscription_id = self.world.container.database(), view.subscription.id
        return subscription_id, int(await database.fetch_value(PUSH, (subscription_id, self.text)))

    async def _identity_and_schedule(self) -> None:
        storage, services = self.world.container.storage(), self.world.container.use_cases()
        await storage.identities.give(self.caller.user_id, [Identity("email", self.text)])
        config = {"cronSchedule": "0 9 1 1 *", "message": self.text}
        made = await services.instances.create(
            self.caller, NewInstance("cron", f"{self.text[:190]} 2", config)
        )
        await storage.health.failed(made.instance_id, Activity.RECEIVING, self.text)
