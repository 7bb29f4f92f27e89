"""Rich content of a resource's answer: what is read, and what is refused."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from switchboard.downstream.v1 import runner_pb2 as pb

from adapters.outbound.resources.answers import gathered
from adapters.outbound.resources.grpc_runner import delta_of
from adapters.outbound.resources.messages import BadAnswer, result_of
from domain.channels.answers import Answer
from domain.channels.rich import (
    Card,
    CardField,
    Contact,
    ConversationChange,
    FieldType,
    FormOption,
    LinkButton,
    Location,
    RichContent,
    RichKind,
    rich_json,
)
from domain.channels.rich_reading import asks_for_secret, read_rich
from domain.conversations.rich_text import with_text
from domain.json_text import loads
from domain.routing.model import RunDelta
from tests.support.runs import a_request

LINK = {"label": "Order", "url": "https://shop.example/1"}
CARD = {
    "title": "Pump",
    "text": "A **good** one",
    "picture": "https://shop.example/p.png",
    "fields": [{"name": "Price", "value": "20 EUR"}],
    "buttons": [LINK],
}
FORM = {
    "title": "Order",
    "name": "order",
    "fields": [
        {"name": "count", "label": "How many?", "type": "number", "required": True, "min": 1, "max": 9},
        {"name": "size", "label": "Size", "type": "choice", "options": [{"label": "Small", "value": "s"}]},
    ],
}
WHOLE = {
    "text": "Here",
    "buttons": [
        LINK,
        {"label": "Call", "url": "tel:+43 1 234"},
        {"label": "Mail", "url": "mailto:a@example.org"},
    ],
    "cards": [CARD],
    "location": {"latitude": 48.2, "longitude": 16, "name": "Shop"},
    "contact": {"name": "Ada", "phones": ["+43 1 234"], "emails": ["ada@example.org"]},
    "form": FORM,
    "assign": "team:support",
    "labels": ["sale"],
    "removeLabels": ["new"],
    "close": True,
    "unknown": {"is": "ignored"},
}


def test_all_of_it_is_read() -> None:
    result = result_of(WHOLE)
    assert result.rich is not None
    assert result.rich.buttons[0] == LinkButton("Order", "https://shop.example/1")
    assert result.rich.cards == (
        Card(
            "Pump",
            "A **good** one",
            "https://shop.example/p.png",
            (CardField("Price", "20 EUR"),),
            (LinkButton("Order", "https://shop.example/1"),),
        ),
    )
    assert result.rich.location == Location(48.2, 16.0, "Shop")
    assert result.rich.contact == Contact("Ada", ("+43 1 234",), ("ada@example.org",))
    assert result.rich.form is not None
    count, size = result.rich.form.fields
    assert (count.type, count.required, count.min, count.max) == (FieldType.NUMBER, True, 1, 9)
    assert size.options == (FormOption("Small", "s"),)
    assert result.change == ConversationChange("team:support", ("sale",), ("new",), close=True)


@pytest.mark.parametrize(
    "answer",
    [
        {"buttons": [LINK]},
        {"location": {"latitude": 0, "longitude": 0}},
        {"silent": True},
        {"assign": None},
        {"labels": ["x"]},
        {"close": True},
    ],
)
def test_an_answer_needs_no_text_beside_them(answer: Mapping[str, Any]) -> None:
    assert result_of(answer).text == ""


def test_what_is_stored_reads_as_what_was_given() -> None:
    rich = result_of(WHOLE).rich
    assert rich is not None
    assert read_rich(json.loads(json.dumps(rich_json(rich)))) == rich


def field(**more: Any) -> dict[str, Any]:
    return {"form": {"title": "T", "fields": [{"name": "a", "label": "A", **more}]}}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"buttons": [LINK] * 10_000}, "buttons has over 10 entries"),
        ({"cards": [{**CARD, "buttons": [LINK] * 10_000}]}, r"cards\[0\].buttons has over 10 entries"),
        ({"cards": [CARD] * 11}, "cards has over 10 entries"),
        ({"cards": [{"text": "x"}]}, r"cards\[0\].title is not a string"),
        ({"cards": [{"title": "x", "picture": "tel:123"}]}, r"cards\[0\].picture must be an address"),
        ({"buttons": [{"label": "x", "url": "javascript:alert(1)"}]}, r"buttons\[0\].url must be an address"),
        ({"buttons": [{"label": "x", "url": "data:text/html,x"}]}, r"buttons\[0\].url must be an address"),
        ({"buttons": [{"label": "a\nb", "url": LINK["url"]}]}, r"buttons\[0\].label must be one line"),
        ({"buttons": [{"label": "x" * 81, "url": LINK["url"]}]}, r"buttons\[0\].label must be at most 80"),
        ({"buttons": {}}, "buttons is not an array"),
        ({"buttons": ["x"]}, r"buttons\[0\] is not an object"),
        ({"location": {"latitude": 91, "longitude": 0}}, "location.latitude is not between -90 and 90"),
        ({"location": {"latitude": 1}}, "location needs latitude and longitude"),
        ({"location": {"latitude": True, "longitude": 1}}, "location.latitude is not a number"),
        ({"location": {"latitude": float("nan"), "longitude": 1}}, "location.latitude is not a number"),
        ({"contact": {"name": "Ada"}}, "contact needs at least one of phones and emails"),
        ({"silent": "yes"}, "silent is not true or false"),
        ({"assign": "ada"}, 'assign must be "user:ID", "team:ID", or null'),
        ({"labels": ["x"] * 21}, "labels has over 20 entries"),
        ({"form": {"title": "T", "fields": []}}, "form.fields must not be empty"),
        ({"form": {"title": "T", "fields": [{"name": "a", "label": "A"}] * 2}}, "the name of another field"),
        (field(type="choice"), r"form.fields\[0\].options must not be empty"),
        (field(type="slider"), r"form.fields\[0\].type must be one of text, multiline"),
        (
            field(type="number", default="x"),
            r"form.fields\[0\].default is no value of a field of type number",
        ),
        (field(type="number", min=2, max=1), r"form.fields\[0\].min must not be over max"),
        (field(type="password"), r"form.fields\[0\].type must not ask for passwords"),
        (field(label="Your Password"), r"form.fields\[0\].label must not ask for passwords"),
        (field(name="userPassword"), r"form.fields\[0\].name must not ask for passwords"),
        ({"text": "\ud800", "cards": [{"title": "\ud800"}]}, "must be text in UTF-8"),
    ],
)
def test_what_does_not_keep_to_the_contract_is_refused(answer: Mapping[str, Any], fault: str) -> None:
    with pytest.raises(BadAnswer, match=fault):
        result_of(answer)


def test_deep_json_is_refused() -> None:
    with pytest.raises(ValueError, match="nested"):
        loads(b'{"cards": ' + b"[" * 100 + b"]" * 100 + b"}")


@pytest.mark.parametrize(
    "label",
    ["Passwort", "mot de passe ?", "MOT-DE-PASSE", "Contraseña:", "PIN", "pin_code", "cardNumber", "Kartennummer",
     "CVV", "密码", "パスワード", "Пароль", "Your wachtwoord",
     "Bankpasswort", "Pass word", "p a s s w o r d", "P.I.N.", "\uff30assword", "Passwo\u0308rter",
     "Kreditkarten-Nummer", "creditcardnumber", "Geheimzahl", "password2"],
)  # fmt: skip
def test_secrets_are_recognised(label: str) -> None:
    assert asks_for_secret(label)


@pytest.mark.parametrize(
    "label",
    [
        "Opinion",
        "Shipping",
        "Spinning class",
        "Passport",
        "Business card",
        "Pine wood",
        "Reisepass",
        "Word pass",
    ],
)
def test_other_questions_are_not(label: str) -> None:
    assert not asks_for_secret(label)


def test_what_is_not_native_becomes_text_before_the_question() -> None:
    rich = result_of(WHOLE).rich
    answer = with_text(Answer("Here\n\nSure?", question="Sure?", rich=rich), frozenset({RichKind.BUTTONS}))
    assert answer.rich is not None
    assert answer.rich == RichContent(buttons=answer.rich.buttons)
    assert answer.text.startswith("Here\n\n**Pump**\n\nA **good** one\n\n- Price: 20 EUR")
    assert "[Map](https://www.openstreetmap.org/?mlat=48.200000" in answer.text
    assert r"**Order**" in answer.text
    assert "- How many?\n- Size: Small" in answer.text
    assert answer.text.endswith("Sure?")
    assert with_text(Answer("Here")) == Answer("Here")


def test_grpc_says_the_same() -> None:
    message = pb.RunResponse(text_delta="x", silent=True, labels=["a"])
    message.location.latitude = 0
    message.form.title = "T"
    added = message.form.fields.add(name="n", label="Number", type="number", min=0)
    added.default.number_value = 3
    delta = delta_of(message)
    assert delta.silent
    assert delta.change == ConversationChange(add_labels=("a",))
    assert delta.rich is not None
    assert delta.rich.location == Location(0, 0)
    assert delta.rich.form is not None
    assert delta.rich.form.fields[0].default == 3
    assert delta_of(pb.RunResponse(text_delta="x")) == RunDelta("x")


async def test_of_pieces_the_last_of_each_part_counts() -> None:
    async def pieces() -> Any:
        yield RunDelta("a", rich=RichContent(buttons=(LinkButton("A", "https://a.example"),)))
        yield RunDelta("b", rich=RichContent(location=Location(1, 2)))
        yield RunDelta("", rich=RichContent(buttons=(LinkButton("B", "https://b.example"),)), silent=True)

    result = await gathered(pieces(), a_request())
    assert result.text == "ab"
    assert result.silent
    assert result.rich == RichContent((LinkButton("B", "https://b.example"),), location=Location(1, 2))
