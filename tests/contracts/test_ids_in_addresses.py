"""Ids from outside never change which resource of a platform is called, whatever they hold."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from adapters.outbound.channels.erp_events.rpc import OdooError
from adapters.outbound.channels.registry import BUILDERS, Registry
from adapters.outbound.channels.tests.calls import ChannelCalls, calls
from adapters.outbound.channels.tests.sample import Sample, Scripted
from adapters.outbound.channels.tests.support import NOW, dependencies
from adapters.outbound.net.urls import base_address, checked_headers, checked_url, segment
from domain.channels.answers import Answer, ClosedPrompt
from domain.channels.messages import Attachment, Sender
from domain.channels.model import Format
from domain.instances.validation import faults_of
from domain.refusals import Refusal
from ports.capabilities import PlatformError, PollFailed
from ports.channels import Channel
from ports.http import HttpAnswer, HttpFailed, HttpRequest, NoAddress
from tests.support.channel_samples import sample_of
from tests.support.hostile import Place, places, replaced

HOSTILE = [
    "../../users/me",
    "a/b?c#d",
    "%2e%2e",
    "%2e%2e%2fusers",
    "..",
    ".",
    "a\r\nX-Evil: 1",
    "a\0b",
    "\ud800",
    "\u202e \u00e4",
    "x" * 10 * 1024,
    "",
]
ANSWER = (
    b'{"ok": true, "id": "1", "access_token": "t", "expires_in": 3600, "sid": "SM1", "name": "a.png", "size": 1,'
    b' "result": {"message_id": 1, "file_path": "photos/file_1.jpg"}, "messages": [{"id": "1"}],'
    b' "url": "https://files.example/a", "mime_type": "image/png"}'
)
EXPECTED = (PlatformError, PollFailed, Refusal, HttpFailed, OdooError)

CHECKED = (Format.ID, Format.BASE_URL)
REGISTRY = Registry.build(dependencies(Scripted((), HttpAnswer(200, {}, ANSWER))))
BUILDER = {channel.definition.id: builder for channel, builder in zip(REGISTRY.all(), BUILDERS, strict=True)}
SAMPLES: dict[str, Sample] = {
    channel.definition.id: sample
    for channel in REGISTRY.all()
    if (sample := sample_of(channel.definition.id)).over_http
}


class Platform:
    """Refuses what the service's own client refuses, and keeps the shape of every address that was called."""

    def __init__(self, prelude: Sequence[HttpAnswer]) -> None:
        self._prelude = list(prelude)
        self.shapes: set[tuple[str, str, int, tuple[str, ...]]] = set()

    async def send(self, request: HttpRequest) -> HttpAnswer:
        checked_url(request.url)
        checked_headers(request.headers)
        parts = urlsplit(request.url)
        path = parts.path.split("/")
        assert not {".", "..", ""} & set(path[1:]), request.url
        assert not parts.fragment, request.url
        names = tuple(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
        self.shapes.add((request.method, parts.netloc, len(path), names))
        return self._prelude.pop(0) if self._prelude else HttpAnswer(200, {}, ANSWER)

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        yield (await self.send(request)).body


async def called(channel_id: str, config: Any, target: Any, attachment: Any) -> set[Any]:
    """The shapes of all addresses that the channel calls with these values."""
    sample = SAMPLES[channel_id]
    platform = Platform(sample.prelude)
    channel = calls(BUILDER[channel_id](dependencies(platform, sample.addresses)))
    for work in _works(channel, config, target, attachment):
        with contextlib.suppress(*EXPECTED):
            await work()
    return platform.shapes


def _works(
    channel: ChannelCalls, config: Any, target: Any, attachment: Attachment | None
) -> Iterator[Callable[[], Awaitable[Any]]]:
    if channel.has("sender") and target:
        for part in channel.render(SAMPLES[channel.definition.id].config, target, Answer("Hello")):
            yield lambda: channel.send(config, target, part, "key-1")  # noqa: B023
    if channel.has("typing") and target:
        yield lambda: channel.typing(config, target)
    if channel.has("prompt_closer") and target:
        yield lambda: channel.close_prompt(config, target, ClosedPrompt("Approved", "Approved", "Approved"))
    if channel.has("probe"):
        yield lambda: channel.probe(config)
    if channel.has("sender_filter") and target:
        sender = next(
            (each for name in ("user", "sender") if isinstance(each := target.get(name), str)), "u1"
        )
        yield lambda: channel.is_bot(config, Sender(sender, "Ann"))
    if attachment is not None and channel.has("describer"):
        yield lambda: channel.described(config, attachment)
    if attachment is not None and channel.has("fetcher"):
        yield lambda: _read(channel.fetch(config, attachment))


async def _read(content: AsyncIterator[bytes]) -> None:
    async for _ in content:
        pass


def targets(channel_id: str) -> list[Mapping[str, Any]]:
    """The sample's own, and those of the events that it receives."""
    sample, channel = SAMPLES[channel_id], calls(REGISTRY.find(channel_id))
    found = [sample.target] if sample.target else []
    if channel.has("webhook"):
        for call in sample.genuine.values():
            quiet = Scripted((), HttpAnswer(200, {}, b"{}"))
            built = calls(BUILDER[channel_id](dependencies(quiet, sample.addresses)))
            found += [each.target for each in built.receive(sample.config, call, sample.metadata, NOW).events]
    return found


def ids_in(value: Any) -> list[Place]:
    """Where a text stands that is no address."""
    return [place for place in places(value) if isinstance(at := _at(value, place), str) and "://" not in at]


def _at(value: Any, place: Place) -> Any:
    for each in place:
        value = value[each]
    return value


@pytest.mark.parametrize("channel_id", SAMPLES)
async def test_an_id_stays_one_segment_of_the_path(channel_id: str) -> None:
    config, attachment = SAMPLES[channel_id].config, SAMPLES[channel_id].attachment
    for target in targets(channel_id) or [{}]:
        usual = await called(channel_id, config, target, attachment)
        for place in ids_in(target):  # without an id a channel may go another way
            usual |= await called(channel_id, config, replaced(target, place, ""), attachment)
        for place in ids_in(target):
            for hostile in HOSTILE:
                found = await called(channel_id, config, replaced(target, place, hostile), attachment)
                assert {shape[1:3] for shape in found} <= {shape[1:3] for shape in usual}, (place, hostile)
                assert {shape[3] for shape in found} <= {shape[3] for shape in usual}, (place, hostile)


@pytest.mark.parametrize("channel_id", [name for name, sample in SAMPLES.items() if sample.attachment])
@pytest.mark.parametrize("hostile", HOSTILE)
async def test_an_id_of_a_file_stays_one_segment_of_the_path(channel_id: str, hostile: str) -> None:
    config, attachment = SAMPLES[channel_id].config, SAMPLES[channel_id].attachment
    assert attachment is not None
    usual = await called(channel_id, config, {}, attachment)
    for name in attachment.source:
        if name == "export":
            continue
        other = Attachment(attachment.name, attachment.mime_type, {**attachment.source, name: hostile})
        found = await called(channel_id, config, {}, other)
        assert {shape[1:] for shape in found} <= {shape[1:] for shape in usual}, (name, hostile)


@pytest.mark.parametrize("channel_id", SAMPLES)
async def test_a_value_of_a_stored_config_stays_one_segment_of_the_path(channel_id: str) -> None:
    """Configurations were stored before their values were checked; but no half of a surrogate pair ever was."""
    sample = SAMPLES[channel_id]
    channel = REGISTRY.find(channel_id)
    assert channel is not None
    config = {**sample.config, **({"apiVersion": "v21.0"} if channel_id == "business-messaging" else {})}
    usual = await called(channel_id, config, sample.target, None)
    for field in channel.definition.fields:
        if (
            field.type != "string"
            or field.format not in (Format.TEXT, *CHECKED)
            or field.choices
            or field.check
        ):
            continue
        values = [each for each in HOSTILE if each != "\ud800"]
        if field.format is Format.BASE_URL:
            values = [f"{config[field.name]}{tail}" for tail in ("/?x=", "#", "/?x=#y", "/..", "/%2e%2e/")]
        for hostile in values:
            found = await called(channel_id, {**config, field.name: hostile}, sample.target, None)
            assert {shape[1:3] for shape in found} <= {shape[1:3] for shape in usual}, (field.name, hostile)


FIELDS = [
    pytest.param(channel, field, id=f"{channel.definition.id}-{field.name}")
    for channel in REGISTRY.all()
    for field in channel.definition.fields
    if field.format in CHECKED
]


@pytest.mark.parametrize(("channel", "field"), FIELDS)
def test_a_config_is_refused_whose_values_are_no_ids_and_addresses(channel: Channel, field: Any) -> None:
    sample = sample_of(channel.definition.id)
    values = [each for each in HOSTILE if each not in ("", "\ud800")]
    if field.format is Format.BASE_URL:
        values = [
            f"{sample.config[field.name]}{tail}"
            for tail in ("?x=1", "/?", "#top", "/../x", "/%2e%2e/x", "/.")
        ]
    for value in values:
        (fault,) = faults_of(channel.definition, None, {**sample.config, field.name: value}, None)
        assert str(fault).startswith(f"config.{field.name}: must be")


@pytest.mark.parametrize("channel", [pytest.param(each, id=each.definition.id) for each in REGISTRY.all()])
def test_a_line_of_a_config_holds_no_line_breaks(channel: Channel) -> None:
    sample = sample_of(channel.definition.id)
    for field in channel.definition.fields:
        if field.format is Format.TEXT and field.type == "string" and not (field.choices or field.check):
            for value in ("a\r\nX-Evil: 1", "a\0b", "a\x1b[2J"):
                (fault,) = faults_of(channel.definition, None, {**sample.config, field.name: value}, None)
                assert str(fault).startswith(f"config.{field.name}: must be one line")


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example/../b",
        "https://a.example/x/..",
        "https://a.example/./b",
        "https://a.example/%2e%2E/b",
        "https://a.example/.%2e?x",
        "https://a.example/" + "x" * 40_000,
    ],
)
def test_an_address_with_a_way_upwards_is_not_called(address: str) -> None:
    with pytest.raises(NoAddress):
        checked_url(address)


@pytest.mark.parametrize(
    "address",
    ["https://a.example/..x/.y", "https://a.example/x?y=/../z", "https://a.example/...", "http://1.2.3.4/"],
)
def test_dots_that_lead_nowhere_are_called(address: str) -> None:
    assert str(checked_url(address)) == address


@pytest.mark.parametrize("value", [*HOSTILE, 7, None])
def test_a_segment_has_no_character_with_a_meaning(value: object) -> None:
    quoted = segment(value)
    assert quoted
    assert not set("/?#\r\n\0 ") & set(quoted)
    assert quoted.isascii()


def test_a_base_address_ends_before_its_query() -> None:
    assert base_address("https://a.example/sub/?x=1#y") == "https://a.example/sub"
