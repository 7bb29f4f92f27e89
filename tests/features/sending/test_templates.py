"""The steps of templates.feature."""

from datetime import timedelta

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.business_messaging.tests import samples
from tests.features.sending.conftest import Sending
from tests.support.platforms.whatsapp import WhatsApp, refusal

scenarios("templates.feature")

ADA = "+441632960001"


@pytest.fixture(autouse=True)
def whatsapp(sending: Sending) -> WhatsApp:
    platform = WhatsApp()
    sending.show(platform)
    sending.id = sending.create("business-messaging", samples.CONFIG)
    return platform


@given(parsers.parse("ada wrote {hours:d} hours ago"))
def wrote(sending: Sending, whatsapp: WhatsApp, hours: int) -> None:
    call = samples.notification("text")
    reply = sending.rest.call("business-messaging", sending.id, call.body, call.headers, "webhook")
    assert reply.outcome == "done", reply
    assert sending.driver.wait_until(lambda: len(whatsapp.messages) == 1)
    whatsapp.messages.clear()
    written_at = sending.world.clock.now() - timedelta(hours=hours)
    database = sending.world.container.database()
    sending.world.run(database.execute("UPDATE inbox SET received_at = %s", (written_at,)))


@given("WhatsApp says that ada's window is closed")
def closed(whatsapp: WhatsApp) -> None:
    reply = refusal(400, 131047, "Re-engagement message")
    whatsapp.next_reply(reply.status, reply.json)


@when(parsers.parse('ann sends the template "{name}" with "{first}" and "{second}" to ada'))
def sends_template(sending: Sending, name: str, first: str, second: str) -> None:
    sending.send(to=ADA, template={"name": name, "language": "en_GB", "parameters": [first, second]})


@when(parsers.parse('ann sends the text "{text}" to ada'))
def sends_text(sending: Sending, text: str) -> None:
    sending.send(to=ADA, text=text)


@when("ann sends a template without a language to ada")
def sends_incomplete(sending: Sending) -> None:
    sending.send(to=ADA, template={"name": "order_ready", "language": ""})


@then(parsers.parse('ada gets the template "{name}" with "{first}" and "{second}"'))
def gets_template(sending: Sending, whatsapp: WhatsApp, name: str, first: str, second: str) -> None:
    assert sending.driver.wait_until(lambda: len(whatsapp.messages) == 1)
    template = whatsapp.messages[0]["template"]
    assert (template["name"], template["language"]) == (name, {"code": "en_GB"})
    (body,) = template["components"]
    assert [parameter["text"] for parameter in body["parameters"]] == [first, second]


@then(parsers.parse('ada gets the text "{text}"'))
def gets_text(sending: Sending, whatsapp: WhatsApp, text: str) -> None:
    assert sending.driver.wait_until(
        lambda: [message["text"]["body"] for message in whatsapp.messages] == [text]
    )


@then("the message is refused, as WhatsApp takes only templates now")
def refused(sending: Sending) -> None:
    assert sending.last.outcome == "conflict", sending.last
    assert "only templates" in str(sending.last.body)


@then("its reason says that WhatsApp takes only templates now")
def dead(sending: Sending) -> None:
    assert "WhatsApp takes only a template now" in sending.status()["error"]


@then("the message is refused because of the language")
def no_language(sending: Sending) -> None:
    assert sending.last.outcome == "invalid", sending.last
    assert "template.language" in str(sending.last.body)
