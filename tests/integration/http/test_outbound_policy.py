"""The outbound address policy where it counts: at the connection, after DNS and after each redirect."""

import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy, AllowedAddresses, PolicedSockets
from adapters.outbound.net.http import AioHttp
from ports.http import Address, Addresses, AddressRefused, HttpFailed, HttpRequest
from tests.support.ports import free_port
from tests.support.servers import Handler, serving

ONLY_ONE = AddressPolicy.parse("public-only", ["127.0.0.1/32"])


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    """A client that may call 127.0.0.1 and no other loopback address."""
    client = AioHttp(ONLY_ONE)
    yield client
    await client.close()


def counting(hits: list[str]) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        hits.append(request.raw_path)
        return web.json_response(dict(request.headers))

    return handler


def redirecting(target: str, status: int = 302) -> Handler:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(status=status, headers={"Location": target})

    return handler


def names(monkeypatch: pytest.MonkeyPatch, table: dict[str, list[list[str]]]) -> list[str]:
    """Lets the system's resolver know these names; each look-up of a name takes its next addresses."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def fake(host: Any, port: Any, family: int = 0, *rest: Any, **named: Any) -> Any:
        if host not in table:
            return real(host, port, family, *rest, **named)
        asked.append(host)
        answers = table[host]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [info for info in (_info(ip, port) for ip in found) if family in (0, info[0])]

    monkeypatch.setattr(socket, "getaddrinfo", fake)
    return asked


def _info(ip: str, port: int) -> tuple[Any, ...]:
    if ":" in ip:
        return socket.AF_INET6, socket.SOCK_STREAM, 6, "", (ip, port, 0, 0)
    return socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)


async def test_an_allowed_address_is_called(http: AioHttp) -> None:
    hits: list[str] = []
    async with serving(counting(hits)) as base:
        answer = await http.send(HttpRequest("GET", base + "/x", user_address=True))

    assert answer.ok
    assert hits == ["/x"]


@pytest.mark.parametrize("user_address", [False, True])
@pytest.mark.parametrize("follow_redirects", [False, True])
async def test_a_name_of_an_address_of_version_6_alone_is_called(
    monkeypatch: pytest.MonkeyPatch, user_address: bool, follow_redirects: bool
) -> None:
    names(monkeypatch, {"six.example": [["::1"]]})
    client = AioHttp(AddressPolicy.parse("open"))
    hits: list[str] = []
    async with serving(counting(hits), "::1") as base:
        url = f"http://six.example:{base.rsplit(':', 1)[1]}/x"
        answer = await client.send(
            HttpRequest("GET", url, user_address=user_address, follow_redirects=follow_redirects)
        )
    await client.close()

    assert answer.ok
    assert hits == ["/x"]


async def test_an_address_of_the_operator_is_exempt() -> None:
    client = AioHttp(AddressPolicy("public-only"))
    async with serving(counting([])) as base:
        assert (await client.send(HttpRequest("GET", base))).ok
    await client.close()


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.2",
        "127.2",
        "2130706434",
        "0x7f000002",
        "0x7f.0.0.2",
        "0177.0.0.2",
        "[::1]",
        "[::ffff:127.0.0.2]",
        "[::ffff:7f00:2]",
        "0.0.0.0",
        "0",
        "localhost.localdomain.invalid@127.0.0.2",
        "127.0.0.2.",
        "\uff11\uff12\uff17.0.0.2",
    ],
)
async def test_a_forbidden_address_is_never_called_however_it_is_written(http: AioHttp, host: str) -> None:
    hits: list[str] = []
    async with serving(counting(hits), "127.0.0.2") as base:
        port = base.rsplit(":", 1)[1]
        with pytest.raises(AddressRefused, match="forbids") as caught:
            await http.send(HttpRequest("GET", f"http://{host}:{port}/", user_address=True))

    assert caught.value.before_request
    assert hits == []


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest/meta-data", "http://[fd00:ec2::254]/", "http://2852039166/"]
)
async def test_metadata_is_refused_in_open_mode(url: str) -> None:
    client = AioHttp(AddressPolicy("open"))
    with pytest.raises(AddressRefused):
        await client.send(HttpRequest("GET", url, user_address=True))
    with pytest.raises(AddressRefused):
        [piece async for piece in client.stream(HttpRequest("GET", url, user_address=True))]
    await client.close()


async def test_a_name_is_judged_by_what_it_resolves_to(
    http: AioHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, {"inside.example": [["127.0.0.2"]]})
    hits: list[str] = []
    async with serving(counting(hits), "127.0.0.2") as base:
        port = base.rsplit(":", 1)[1]
        with pytest.raises(AddressRefused, match=r"forbids inside\.example") as caught:
            await http.send(HttpRequest("GET", f"http://inside.example:{port}/", user_address=True))

    assert "127.0.0.2" not in str(caught.value), "what the name resolves to is nobody's business"
    assert hits == []


async def test_of_several_addresses_only_the_allowed_are_called(
    http: AioHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, {"both.example": [["127.0.0.2", "127.0.0.1"]]})
    async with serving(counting([])) as base:
        port = base.rsplit(":", 1)[1]
        answer = await http.send(HttpRequest("GET", f"http://both.example:{port}/", user_address=True))

    assert answer.ok


async def test_a_name_that_changes_its_address_gains_nothing(
    http: AioHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = names(monkeypatch, {"rebind.example": [["127.0.0.1"], ["127.0.0.2"]]})
    hits: list[str] = []
    async with serving(counting(hits)) as base:
        port = base.rsplit(":", 1)[1]
        answer = await http.send(HttpRequest("GET", f"http://rebind.example:{port}/", user_address=True))

    assert answer.ok
    assert asked == ["rebind.example"], "the address that was judged is the one that was called"


async def test_a_connection_of_the_operator_is_not_lent_to_a_user() -> None:
    client = AioHttp(AddressPolicy("public-only"))
    async with serving(counting([])) as base:
        assert (await client.send(HttpRequest("GET", base))).ok
        with pytest.raises(AddressRefused):
            await client.send(HttpRequest("GET", base, user_address=True))
    await client.close()


@pytest.mark.parametrize("ip", ["127.0.0.2", "169.254.169.254", "::1"])
def test_no_socket_is_made_for_a_forbidden_address(ip: str) -> None:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    with pytest.raises(PermissionError):
        PolicedSockets(ONLY_ONE)((family, socket.SOCK_STREAM, 6, "", (ip, 80)))


class TestRedirects:
    async def test_they_are_not_followed_unasked(self, http: AioHttp) -> None:
        async with serving(redirecting("/elsewhere")) as base:
            answer = await http.send(HttpRequest("GET", base))

        assert answer.status == 302

    async def test_a_post_is_never_repeated_elsewhere(self, http: AioHttp) -> None:
        hits: list[str] = []
        async with serving(counting(hits)) as there, serving(redirecting(there, 307)) as base:
            answer = await http.send(HttpRequest("POST", base, json={}, follow_redirects=True))

        assert answer.status == 307
        assert hits == []

    async def test_a_get_is_followed_when_asked(self, http: AioHttp) -> None:
        hits: list[str] = []
        async with serving(counting(hits)) as there, serving(redirecting(f"{there}/a?b=%2F")) as base:
            answer = await http.send(HttpRequest("GET", base, user_address=True, follow_redirects=True))

        assert answer.ok
        assert hits == ["/a?b=%2F"]

    async def test_a_hop_to_a_forbidden_address_is_refused(self, http: AioHttp) -> None:
        hits: list[str] = []
        async with serving(counting(hits), "127.0.0.2") as inside, serving(redirecting(inside)) as base:
            with pytest.raises(AddressRefused):
                await http.send(HttpRequest("GET", base, user_address=True, follow_redirects=True))

        assert hits == []

    async def test_credentials_stay_with_their_origin(self, http: AioHttp) -> None:
        headers = {"authorization": "Bearer secret", "Cookie": "a=b", "X-Kept": "1"}
        async with serving(counting([])) as there, serving(redirecting(there)) as base:
            answer = await http.send(HttpRequest("GET", base, headers=headers, follow_redirects=True))

        seen = {name.lower() for name in answer.json()}
        assert "x-kept" in seen
        assert not seen & {"authorization", "cookie"}

    async def test_a_loop_ends(self, http: AioHttp) -> None:
        async with serving(redirecting("/again")) as base:
            with pytest.raises(HttpFailed, match="redirects more than 5 times") as caught:
                await http.send(HttpRequest("GET", base, follow_redirects=True))

        assert not caught.value.before_request

    @pytest.mark.parametrize("target", ["file:///etc/passwd", "gopher://127.0.0.1/", "http://[::1"])
    async def test_a_hop_to_no_web_address_is_refused(self, http: AioHttp, target: str) -> None:
        async with serving(redirecting(target)) as base:
            with pytest.raises(HttpFailed, match="redirects to what is no address"):
                await http.send(HttpRequest("GET", base, follow_redirects=True))

    async def test_a_failure_behind_a_redirect_may_have_had_effects(self, http: AioHttp) -> None:
        async with serving(redirecting(f"http://127.0.0.1:{free_port()}")) as base:
            with pytest.raises(HttpFailed) as caught:
                await http.send(HttpRequest("GET", base, follow_redirects=True))

        assert not caught.value.before_request


class TestOtherProtocols:
    async def test_allowed_addresses_are_given(self) -> None:
        port: Addresses = AllowedAddresses(ONLY_ONE)

        assert await port.resolve_allowed("127.0.0.1", 993) == [Address("127.0.0.1", 993)]
        assert await port.resolve_allowed("0x7f.1", 993) == [Address("127.0.0.1", 993)]

    @pytest.mark.parametrize("host", ["127.0.0.2", "127.2", "2130706434", "::1", "[::1]", "169.254.169.254"])
    async def test_forbidden_hosts_are_refused(self, host: str) -> None:
        with pytest.raises(AddressRefused):
            await AllowedAddresses(ONLY_ONE).resolve_allowed(host, 25)

    async def test_of_several_addresses_the_allowed_are_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        names(monkeypatch, {"mail.example": [["127.0.0.2", "127.0.0.1", "127.0.0.1"]]})

        found = await AllowedAddresses(ONLY_ONE).resolve_allowed("mail.example", 25)

        assert found == [Address("127.0.0.1", 25)]

    @pytest.mark.parametrize("host", ["nowhere.invalid", "", "a..b", "x" * 70])
    @pytest.mark.usefixtures("no_such_name")
    async def test_an_unknown_name_is_a_failure(self, host: str) -> None:
        with pytest.raises(HttpFailed, match="cannot be resolved") as caught:
            await AllowedAddresses(ONLY_ONE).resolve_allowed(host, 25)

        assert not isinstance(caught.value, AddressRefused)
