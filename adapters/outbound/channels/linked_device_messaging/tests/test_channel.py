"""Replies and files through a linked device."""

import pytest

from adapters.outbound.channels.linked_device_messaging.channel import NO_DEVICE, build
from adapters.outbound.channels.linked_device_messaging.device import DeviceError
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import Files, dependencies
from domain.channels.answers import Answer, Artifact, OutboundMessage
from domain.channels.messages import Attachment, Outcome, Sent
from ports.capabilities import PlatformError
from ports.http import Http
from tests.support.linked_device import Recorder, ScriptedDevice, ScriptedDevices

NO_HTTP: Http = object()  # type: ignore[assignment]
CONFIG = {"phoneNumber": "4915112345678"}
TARGET = {"instance": 7, "chat": "4917000000001@s.whatsapp.net"}


@pytest.fixture
def device() -> ScriptedDevice:
    return ScriptedDevice()


@pytest.fixture
def channel(device: ScriptedDevice) -> ChannelCalls:
    devices = ScriptedDevices(device)
    devices.opened.append(7)
    return ChannelCalls(build(dependencies(NO_HTTP, files=Files(**{"a.png": b"PNG"})), devices))


def test_the_channel_has_the_capabilities_of_a_connection(channel: ChannelCalls) -> None:
    assert channel.has("connector", "pairing", "sender", "fetcher", "probe", "typing")


async def test_text_is_split_and_files_are_sent_natively(
    channel: ChannelCalls, device: ScriptedDevice
) -> None:
    answer = Answer("**Bold** " + "word " * 1000, (Artifact("a.png", "image/png", "https://x.example/a"),))
    parts = channel.render(CONFIG, TARGET, answer)
    sents = [await channel.send(CONFIG, TARGET, part, f"key{n}") for n, part in enumerate(parts)]
    assert all(sent.outcome is Outcome.SENT for sent in sents)
    assert [sent.ref for sent in sents] == ["MSG1", "MSG2", "MSG3"]
    assert device.sent[0][1].startswith("*Bold* ")
    assert all(len(text) <= 4096 for _, text, *_ in device.sent)
    assert device.sent[2][2:4] == ("image/png", b"PNG")


@pytest.mark.parametrize(("before", "outcome"), [(True, Outcome.TRANSIENT), (False, Outcome.UNKNOWN)])
async def test_failures(
    channel: ChannelCalls, device: ScriptedDevice, before: bool, outcome: Outcome
) -> None:
    device.failure = DeviceError("broken", before_sending=before)
    assert (await channel.send(CONFIG, TARGET, OutboundMessage({"text": "x"}), "key")).outcome is outcome


async def test_a_device_that_does_not_run_is_waited_for(channel: ChannelCalls) -> None:
    sent = await channel.send(CONFIG, {**TARGET, "instance": 8}, OutboundMessage({"text": "x"}), "key")
    assert sent.outcome is Outcome.TRANSIENT


async def test_media_is_downloaded(channel: ChannelCalls, device: ScriptedDevice) -> None:
    device.media["ref"] = b"x" * 100_000
    source = {"instance": 7, "message": {"message": "ref"}}
    attachment = Attachment("image", "image/jpeg", source)
    assert b"".join([piece async for piece in channel.fetch(CONFIG, attachment)]) == b"x" * 100_000
    device.failure = DeviceError("media gone")
    with pytest.raises(PlatformError, match="media gone"):
        [piece async for piece in channel.fetch(CONFIG, attachment)]


async def test_without_the_extra_the_channel_says_so() -> None:
    devices = ScriptedDevices(ScriptedDevice(), lack="this server lacks the extra 'linked-device'")
    channel = ChannelCalls(build(dependencies(NO_HTTP), devices))
    assert channel.lacks() == devices.lack
    with pytest.raises(PlatformError, match="lacks the extra"):
        await channel.probe(CONFIG)
    recorder = Recorder()
    with pytest.raises(PlatformError):
        await channel.listen(7, CONFIG, lambda _: None, recorder)  # type: ignore[arg-type,return-value]
    assert recorder.reasons == [devices.lack]


async def test_a_removed_instance_is_unlinked_and_forgotten(device: ScriptedDevice) -> None:
    devices = ScriptedDevices(device)
    channel = ChannelCalls(build(dependencies(NO_HTTP), devices))
    await channel.unlink(7)
    assert device.did == ["logout", "close"]
    assert devices.forgotten == [7]


async def test_shows_that_somebody_is_writing() -> None:
    device = ScriptedDevice()
    devices = ScriptedDevices(device)
    channel = ChannelCalls(build(dependencies(NO_HTTP), devices))
    target = {"instance": 7, "chat": "49@s.whatsapp.net"}
    assert (await channel.typing({}, target)) == Sent(Outcome.TRANSIENT, NO_DEVICE)
    await devices.open(7)
    assert (await channel.typing({}, target)) == Sent(Outcome.SENT)
    assert device.did == ["typing 49@s.whatsapp.net"]
    device.failure = DeviceError("gone")
    assert (await channel.typing({}, target)) == Sent(Outcome.TRANSIENT, "gone")


async def test_a_person_who_never_wrote_is_written_to(channel: ChannelCalls, device: ScriptedDevice) -> None:
    session_id, target = await channel.open(CONFIG, "+4917000000001")
    (message,) = channel.render(CONFIG, target, Answer("Hello"))
    sent = await channel.send(CONFIG, target, message, "key")
    assert (session_id, sent.outcome) == ("4917000000001", Outcome.SENT)
    assert device.sent == [("4917000000001@s.whatsapp.net", "Hello", None, None)]
