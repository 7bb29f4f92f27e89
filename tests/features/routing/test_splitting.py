"""The steps of splitting.feature. Steps are synchronous: rendering is pure."""

import re
from dataclasses import dataclass, field

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.rendering import Markup, render
from domain.channels.model import TextLimit, Unit

scenarios("splitting.feature")

WHOLE = {
    "a family emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "a flag": "\U0001f1e9\U0001f1ea",
    "a thumb of brown skin": "\U0001f44d\U0001f3fe",
    "a keycap": "1\ufe0f\u20e3",
    "an accented letter": "e\u0301",
    "a Korean syllable": "\u1112\u1161\u11ab",
}


@dataclass
class World:
    limit: TextLimit | None = None
    answer: str = ""
    messages: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


@pytest.fixture
def world() -> World:
    return World()


@given(parsers.parse("a platform that takes messages of up to {size:d} characters"))
def _limit_in_characters(world: World, size: int) -> None:
    world.limit = TextLimit(size)


@given(parsers.parse("a platform that takes messages of up to {size:d} UTF-16 units"))
def _limit_in_units(world: World, size: int) -> None:
    world.limit = TextLimit(size, Unit.UTF16)


@given("a platform that takes messages of any length")
def _no_limit(world: World) -> None:
    world.limit = None


@given(parsers.parse("an answer of {size:d} characters in short paragraphs"))
def _paragraphs(world: World, size: int) -> None:
    words = (f"word{at}" + (".\n\n" if at % 30 == 29 else " ") for at in range(size))
    world.answer = "".join(words)[: size - 1] + "!"


@given(parsers.parse("an answer of {size:d} characters without a space"))
def _solid(world: World, size: int) -> None:
    world.answer = ("abcdefghij" * size)[:size]


@given(parsers.parse("an answer of {size:d} emojis"))
def _emojis(world: World, size: int) -> None:
    world.answer = "\U0001f600" * size


@given("the answer", target_fixture="_")
def _answer_text(world: World, docstring: str) -> None:
    world.answer = docstring


@given(parsers.parse('the answer "{text}"'))
def _answer(world: World, text: str) -> None:
    world.answer = text


@given(parsers.parse("an answer of {before:d} letters, then {what}, then {after:d} letters"))
def _around(world: World, before: int, what: str, after: int) -> None:
    world.answer = "x" * before + WHOLE[what] + "y" * after


@given(parsers.parse("an answer with a Python code block of {count:d} lines between two sentences"))
def _code(world: World, count: int) -> None:
    world.code = [f"    print('line number {at}')" for at in range(count)]
    world.answer = "Look at this.\n\n```python\n" + "\n".join(world.code) + "\n```\n\nThat is all."


@given("an answer with a code block fenced by four backticks that shows a fence of three")
def _nested(world: World) -> None:
    inner = "```js\n" + "\n".join(f"call({at}, 'argument')" for at in range(40)) + "\n```"
    world.answer = f"````markdown\n{inner}\n````"


@when("the answer is split")
def _split(world: World) -> None:
    world.messages = [message.text for message in render(Markup.MATTERMOST, world.answer, world.limit)]


@then(parsers.parse("there is {count:d} message"))
@then(parsers.parse("there are {count:d} messages"))
def _count(world: World, count: int) -> None:
    assert len(world.messages) == count


@then(parsers.parse("each message has at most {size:d} characters"))
def _within_characters(world: World, size: int) -> None:
    assert len(world.messages) > 1
    assert all(len(message) <= size for message in world.messages)


@then(parsers.parse("each message has at most {size:d} UTF-16 units"))
def _within_units(world: World, size: int) -> None:
    assert all(len(message.encode("utf-16-le")) <= 2 * size for message in world.messages)


@then("the messages together hold every word of the answer in order")
def _every_word(world: World) -> None:
    assert " ".join(world.messages).split() == world.answer.split()


@then("the messages joined without anything between are the answer")
def _joined(world: World) -> None:
    assert "".join(world.messages) == world.answer


@then(parsers.re(r'message (?P<number>\d+) is "(?P<text>.*)"'))
def _message_is(world: World, number: str, text: str) -> None:
    assert world.messages[int(number) - 1] == text.replace(r"\n", "\n")


@then(parsers.parse("{what} stands whole in one message"))
def _whole(world: World, what: str) -> None:
    assert len(world.messages) == 2
    assert sum(WHOLE[what] in message for message in world.messages) == 1


@then("every message has as many opening as closing fences")
def _balanced(world: World) -> None:
    assert len(world.messages) > 2
    for message in world.messages:
        fences = re.findall("^```.*$", message, re.MULTILINE)
        assert fences[::2] == ["```python"] * (len(fences) // 2)
        assert fences[1::2] == ["```"] * (len(fences) // 2)


@then("each message that holds code opens it as Python")
def _opened_as_python(world: World) -> None:
    for message in world.messages:
        if "print(" in message:
            assert message.index("```python\n") < message.index("print(")


@then("the lines of code are all there, with their indentation")
def _all_code(world: World) -> None:
    found = [line for message in world.messages for line in message.split("\n") if "print(" in line]
    assert found == world.code


@then("each message that holds code opens it with four backticks")
def _four_backticks(world: World) -> None:
    assert len(world.messages) > 2
    for message in world.messages:
        assert message.startswith("````markdown\n")
        assert message.endswith("\n````")
