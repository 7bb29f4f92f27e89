"""The shared HTTP client against real servers on the loopback interface."""

import asyncio
import gzip
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from ports.http import FormFile, Http, HttpFailed, HttpRequest
from tests.support.ports import free_port
from tests.support.servers import a_certificate, raw_serving, serving
from tests.support.waiting import let_pass


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("open"))
    yield client
    await client.close()


def test_the_client_is_an_http_port() -> None:
    port: Http = AioHttp(AddressPolicy())
    assert port


async def echo(request: web.Request) -> web.Response:
    """Answers with what it was asked, as JSON."""
    body = await request.read()
    return web.json_response(
        {
            "method": request.method,
            "target": request.raw_path,
            "headers": {name.lower(): value for name, value in request.headers.items()},
            "body": body.decode("utf-8", "backslashreplace"),
        }
    )


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def test_a_header_has_the_credentials_before_the_address(http: AioHttp) -> None:
    async with serving(echo) as base:
        address = base.replace("//", "//ann:sesame@") + "/x"
        both = HttpRequest("POST", address, headers={"Authorization": "Bearer s3cret"})
        answers = [await http.send(request) for request in (both, replace(both, headers={}))]

    assert [answer.json()["headers"]["authorization"] for answer in answers] == [
        "Bearer s3cret",
        "Basic YW5uOnNlc2FtZQ==",
    ]


class TestBodies:
    async def test_json_is_sent_with_its_type(self, http: AioHttp) -> None:
        async with serving(echo) as base:
            answer = await http.send(HttpRequest("post", base + "/x", json={"text": "Grüße 🙂"}))

        seen = answer.json()
        assert answer.ok
        assert seen["method"] == "POST"
        assert seen["headers"]["content-type"] == "application/json"
        assert json.loads(seen["body"]) == {"text": "Grüße 🙂"}

    @pytest.mark.parametrize("value", [2**70, {"text": "\ud800"}])
    async def test_json_that_the_fast_encoder_refuses_is_sent_all_the_same(
        self, http: AioHttp, value: object
    ) -> None:
        async with serving(echo) as base:
            seen = (await http.send(HttpRequest("POST", base, json=value))).json()

        assert json.loads(seen["body"]) == value

    async def test_a_given_content_type_wins(self, http: AioHttp) -> None:
        headers = {"content-type": "application/vnd.api+json"}
        async with serving(echo) as base:
            seen = (await http.send(HttpRequest("POST", base, headers=headers, json={}))).json()

        assert seen["headers"]["content-type"] == "application/vnd.api+json"

    async def test_a_form_is_urlencoded(self, http: AioHttp) -> None:
        async with serving(echo) as base:
            seen = (await http.send(HttpRequest("POST", base, form={"a": "1 &2", "ü": "€"}))).json()

        assert seen["headers"]["content-type"] == "application/x-www-form-urlencoded"
        assert seen["body"] == "a=1+%262&%C3%BC=%E2%82%AC"

    async def test_streamed_content_goes_out_chunked(self, http: AioHttp) -> None:
        async with serving(echo) as base:
            seen = (await http.send(HttpRequest("PUT", base, content=pieces(b"ab", b"cd")))).json()

        assert seen["body"] == "abcd"
        assert seen["headers"]["transfer-encoding"] == "chunked"

    async def test_streamed_content_of_known_length_has_its_length(self, http: AioHttp) -> None:
        request = HttpRequest("PUT", "", headers={"Content-Length": "4"}, content=pieces(b"ab", b"cd"))
        async with serving(echo) as base:
            seen = (await http.send(_at(request, base))).json()

        assert seen["headers"]["content-length"] == "4"
        assert "transfer-encoding" not in seen["headers"]

    @pytest.mark.parametrize("length", ["3", "5"])
    async def test_content_that_belies_its_length_is_a_failure(self, http: AioHttp, length: str) -> None:
        request = HttpRequest(
            "PUT", "", headers={"Content-Length": length}, content=pieces(b"ab", b"cd"), timeout=60
        )
        async with serving(echo) as base:
            with pytest.raises(HttpFailed, match="the content to send cannot be read"):
                await http.send(_at(request, base))

    async def test_a_length_does_not_override_the_length_of_a_whole_body(self, http: AioHttp) -> None:
        headers = {"Content-Length": "2", "Transfer-Encoding": "chunked"}
        async with serving(echo) as base:
            seen = (await http.send(HttpRequest("POST", base, headers=headers, content=b"abcd"))).json()

        assert seen["body"] == "abcd"
        assert seen["headers"]["content-length"] == "4"

    async def test_a_large_body_is_sent_whole(self, http: AioHttp) -> None:
        async def count(request: web.Request) -> web.Response:
            return web.Response(text=str(len(await request.read())))

        async with serving(count) as base:
            answer = await http.send(HttpRequest("POST", base, content=b"x" * 3_000_000))

        assert answer.body == b"3000000"

    @pytest.mark.parametrize("size", [None, 6])
    async def test_multipart_carries_fields_and_files(self, http: AioHttp, size: int | None) -> None:
        seen: list[tuple[str | None, str | None, str | None, bytes]] = []

        async def collect(request: web.Request) -> web.Response:
            seen.extend(
                [
                    (part.name, part.filename, part.headers.get("Content-Type"), await part.read())
                    async for part in await request.multipart()
                ]
            )
            return web.Response(text=request.headers.get("Content-Length", "none"))

        files = [
            FormFile("photo", 'Bild "ü".png', "image/png", b"\x89PNG"),
            FormFile("document", "a.txt", "text/plain", pieces(b"abc", b"def"), size),
        ]
        async with serving(collect) as base:
            answer = await http.send(HttpRequest("POST", base, fields={"chat_id": "ä"}, files=files))

        assert seen == [
            ("chat_id", None, "text/plain; charset=utf-8", "ä".encode()),
            ("photo", "Bild %22ü%22.png", "image/png", b"\x89PNG"),
            ("document", "a.txt", "text/plain", b"abcdef"),
        ]
        assert (answer.body == b"none") is (size is None)

    async def test_a_file_name_cannot_break_out_of_its_header(self, http: AioHttp) -> None:
        name = 'a"\r\nX-Evil: 1\r\n\r\n.txt'
        async with serving(echo) as base:
            request = HttpRequest("POST", base, files=[FormFile("f", name, "text/plain", b"x")])
            seen = (await http.send(request)).json()

        assert "\r\nX-Evil" not in seen["body"]
        assert 'filename="a%22%0D%0AX-Evil: 1%0D%0A%0D%0A.txt"' in seen["body"]

    async def test_content_that_breaks_is_not_blamed_on_the_server(self, http: AioHttp) -> None:
        async def broken() -> AsyncIterator[bytes]:
            yield b"a"
            raise RuntimeError("disk of https://u:p@x.example/?k=secret is gone")

        async with serving(echo) as base:
            with pytest.raises(HttpFailed, match="the content to send cannot be read") as caught:
                await http.send(HttpRequest("POST", base, content=broken()))

        assert "secret" not in str(caught.value)

    async def test_a_failure_of_the_source_is_passed_on(self, http: AioHttp) -> None:
        async def forbidden() -> AsyncIterator[bytes]:
            yield b"a"
            raise HttpFailed("the file is gone", before_request=True)

        async with serving(echo) as base:
            with pytest.raises(HttpFailed, match="the file is gone"):
                await http.send(HttpRequest("POST", base, content=forbidden()))


class TestRequests:
    async def test_the_target_goes_out_as_it_was_given(self, http: AioHttp) -> None:
        target = "/a%2Fb/%7Euser?sig=a%2Bb%3D&x=1+2&y"
        async with serving(echo) as base:
            seen = (await http.send(HttpRequest("GET", base + target))).json()

        assert seen["target"] == target

    async def test_an_address_with_other_letters_is_escaped(self, http: AioHttp) -> None:
        async with serving(echo) as base:
            seen = (await http.send(HttpRequest("GET", base + "/grün?q=ä"))).json()

        assert seen["target"] == "/gr%C3%BCn?q=%C3%A4"

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "/relative",
            "ftp://example.org/",
            "file:///etc/passwd",
            "http://",
            "http:///path",
            "http://exa mple.org/",
            "http://example.org/\r\nX-Evil: 1",
            "http://example.org:99999/",
            "http://[::1/",
            "javascript:alert(1)",
        ],
    )
    async def test_what_is_no_web_address_is_refused(self, http: AioHttp, url: str) -> None:
        with pytest.raises(HttpFailed, match="address") as caught:
            await http.send(HttpRequest("GET", url))

        assert caught.value.before_request

    @pytest.mark.parametrize(
        ("name", "value"),
        [("X-A", "b\r\nX-Evil: 1"), ("X-A", "b\nc"), ("X-A", "b\x00"), ("X A", "b"), ("", "b"), ("X:A", "b")],
    )
    async def test_a_header_cannot_smuggle(self, http: AioHttp, name: str, value: str) -> None:
        with pytest.raises(HttpFailed, match="header") as caught:
            await http.send(HttpRequest("GET", "http://127.0.0.1:9/", headers={name: value}))

        assert caught.value.before_request
        assert "X-Evil" not in str(caught.value)

    async def test_no_cookie_is_kept(self, http: AioHttp) -> None:
        async def bake(request: web.Request) -> web.Response:
            answer = web.json_response({"cookie": request.headers.get("Cookie")})
            answer.set_cookie("a", "b")
            return answer

        async with serving(bake) as base:
            named = base.replace("127.0.0.1", "localhost")  # cookies of bare addresses are never kept
            await http.send(HttpRequest("GET", named))
            second = await http.send(HttpRequest("GET", named))

        assert second.json() == {"cookie": None}

    async def test_proxies_of_the_environment_are_ignored(
        self, http: AioHttp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        async with serving(echo) as base:
            assert (await http.send(HttpRequest("GET", base))).ok

    async def test_an_error_status_is_an_answer(self, http: AioHttp) -> None:
        async def busy(_: web.Request) -> web.Response:
            return web.Response(status=429, headers={"Retry-After": "3"}, text="slow down")

        async with serving(busy) as base:
            answer = await http.send(HttpRequest("GET", base))

        assert (answer.status, answer.retry_after, answer.body) == (429, 3.0, b"slow down")

    async def test_a_client_that_was_closed_opens_anew(self, http: AioHttp) -> None:
        async with serving(echo) as base:
            await http.send(HttpRequest("GET", base))
            await http.close()
            assert (await http.send(HttpRequest("GET", base))).ok


class TestFailures:
    async def test_a_refused_connection_never_reached_the_server(self, http: AioHttp) -> None:
        base = f"http://127.0.0.1:{free_port()}"
        with pytest.raises(HttpFailed, match=r"cannot be connected to: Connection refused$") as caught:
            await http.send(HttpRequest("POST", base + "/bot1:secret/x?key=secret", json={}))

        assert caught.value.before_request
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize("host", ["nowhere.invalid", "x" * 63 + ".example"])
    @pytest.mark.usefixtures("no_such_name")
    async def test_an_unknown_name_never_reached_a_server(self, http: AioHttp, host: str) -> None:
        with pytest.raises(HttpFailed, match="host name is not found") as caught:
            await http.send(HttpRequest("POST", f"http://{host}/", json={}))

        assert caught.value.before_request

    async def test_a_failed_handshake_never_sent_the_request(self, http: AioHttp) -> None:
        async with serving(echo) as base:
            with pytest.raises(HttpFailed, match="TLS") as caught:
                await http.send(HttpRequest("POST", base.replace("http:", "https:"), json={}))

        assert caught.value.before_request

    async def test_a_certificate_of_nobodys_is_not_trusted(self, http: AioHttp, tmp_path: Path) -> None:
        hits: list[str] = []

        async def hit(request: web.Request) -> web.Response:
            hits.append(request.path)
            return web.Response()

        async with serving(hit, tls=a_certificate(tmp_path, "127.0.0.1")) as base:
            with pytest.raises(HttpFailed, match="certificate is not valid") as caught:
                await http.send(HttpRequest("POST", base, json={}))

        assert caught.value.before_request
        assert hits == []

    async def test_a_certificate_that_is_trusted_must_be_for_the_host(self, tmp_path: Path) -> None:
        right, wrong = a_certificate(tmp_path, "127.0.0.1"), a_certificate(tmp_path, "127.0.0.9")
        trusting = ssl.create_default_context(cafile=str(tmp_path / "127.0.0.1.pem"))
        trusting.load_verify_locations(str(tmp_path / "127.0.0.9.pem"))
        client = AioHttp(AddressPolicy(), tls=trusting)
        async with serving(echo, tls=right) as base:
            assert (await client.send(HttpRequest("GET", base))).ok
        async with serving(echo, tls=wrong) as base:
            with pytest.raises(HttpFailed, match="certificate is not valid"):
                await client.send(HttpRequest("GET", base))
        await client.close()

    async def test_a_server_that_hangs_may_have_taken_the_request(self, http: AioHttp) -> None:
        async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            let_pass(60.5)
            await reader.read()

        async with raw_serving(hang) as base:
            with pytest.raises(HttpFailed, match=r"does not answer within 60\.5 s") as caught:
                await http.send(HttpRequest("POST", base, json={}, timeout=60.5))

        assert not caught.value.before_request

    async def test_the_time_limit_covers_an_answer_that_drips(self, http: AioHttp) -> None:
        async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            client_left = asyncio.create_task(reader.read())
            while not client_left.done():
                writer.write(b"x")
                let_pass(10)
                await asyncio.wait({client_left}, timeout=0.02)
            await client_left

        async with raw_serving(drip) as base:
            with pytest.raises(HttpFailed, match="does not answer within") as caught:
                await http.send(HttpRequest("GET", base, timeout=60))

        assert not caught.value.before_request

    @pytest.mark.parametrize(
        "answer",
        [
            b"",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
            b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        ],
    )
    async def test_an_answer_that_breaks_off_is_a_failure(self, http: AioHttp, answer: bytes) -> None:
        async def cut(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(answer)
            await writer.drain()

        async with raw_serving(cut) as base:
            with pytest.raises(HttpFailed) as caught:
                await http.send(HttpRequest("POST", base, json={}))

        assert not caught.value.before_request

    @pytest.mark.parametrize("announced", [True, False])
    async def test_an_answer_over_the_cap_is_a_failure(self, http: AioHttp, announced: bool) -> None:
        async def large(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            if announced:
                response.content_length = 200_000
            await response.prepare(request)
            for _ in range(200):
                await response.write(b"x" * 1000)
            return response

        async with serving(large) as base:
            with pytest.raises(HttpFailed, match="over 100000 bytes") as caught:
                await http.send(HttpRequest("GET", base, max_bytes=100_000))

        assert not caught.value.before_request

    async def test_the_cap_counts_what_is_unpacked(self, http: AioHttp) -> None:
        packed = gzip.compress(b"\0" * 50_000_000)

        async def bomb(_: web.Request) -> web.Response:
            return web.Response(body=packed, headers={"Content-Encoding": "gzip"})

        async with serving(bomb) as base:
            with pytest.raises(HttpFailed, match="over 100000 bytes"):
                await http.send(HttpRequest("GET", base, max_bytes=100_000))

    async def test_a_call_that_is_cancelled_is_cancelled(self, http: AioHttp) -> None:
        reached = asyncio.Event()

        async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            reached.set()
            await reader.read()

        async with raw_serving(hang) as base:
            task = asyncio.create_task(http.send(HttpRequest("GET", base)))
            await reached.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


class TestStreams:
    async def test_the_body_comes_in_pieces(self, http: AioHttp) -> None:
        async def large(_: web.Request) -> web.Response:
            return web.Response(body=b"x" * 200_000)

        async with serving(large) as base:
            sizes = [len(piece) async for piece in http.stream(HttpRequest("GET", base))]

        assert sum(sizes) == 200_000
        assert max(sizes) <= 65536

    async def test_another_status_is_a_failure_that_holds_the_answer(self, http: AioHttp) -> None:
        async def gone(_: web.Request) -> web.Response:
            return web.Response(status=429, text="later", headers={"Retry-After": "9"})

        async with serving(gone) as base:
            with pytest.raises(HttpFailed, match="status 429") as caught:
                [piece async for piece in http.stream(HttpRequest("GET", base))]

        assert caught.value.answer is not None
        assert caught.value.answer.body == b"later"
        assert caught.value.answer.retry_after == 9.0

    async def test_a_stream_over_the_cap_is_a_failure(self, http: AioHttp) -> None:
        async def large(_: web.Request) -> web.Response:
            return web.Response(body=b"x" * 200_000)

        async with serving(large) as base:
            with pytest.raises(HttpFailed, match="over 100 bytes"):
                [piece async for piece in http.stream(HttpRequest("GET", base, max_bytes=100))]

    async def test_a_stream_that_stalls_ends_at_the_time_limit(self, http: AioHttp) -> None:
        async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            await reader.read()

        async with raw_serving(stall) as base, aclosing(http.stream(_get(base, timeout=60))) as body:
            assert await anext(body) == b"abc"
            let_pass(60)
            with pytest.raises(HttpFailed, match="does not answer within"):
                await anext(body)

    async def test_a_slow_reader_is_not_cancelled_between_pieces(self, http: AioHttp) -> None:
        async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            await reader.read()

        async with raw_serving(stall) as base, aclosing(http.stream(_get(base, timeout=60))) as body:
            assert await anext(body) == b"abc"
            let_pass(60)
            for _ in range(3):
                await asyncio.sleep(0)
            with pytest.raises(HttpFailed, match="does not answer within"):
                await anext(body)

    async def test_a_reader_may_leave_early(self, http: AioHttp) -> None:
        left = asyncio.Event()

        async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\nabc")
            await reader.read()
            left.set()

        async with raw_serving(endless) as base:
            async with aclosing(http.stream(HttpRequest("GET", base))) as body:
                assert await anext(body) == b"abc"
            await asyncio.wait_for(left.wait(), 30)


async def test_each_exchange_is_observed() -> None:
    seen: list[tuple[str, str]] = []
    client = AioHttp(
        AddressPolicy("public-only"), observe=lambda label, outcome, _: seen.append((label, outcome))
    )

    async def status(request: web.Request) -> web.Response:
        return web.Response(status=int(request.path[1:]))

    async with serving(status) as base:
        for code in (204, 404, 429, 503):
            await client.send(HttpRequest("GET", f"{base}/{code}"))
        with pytest.raises(HttpFailed):
            [piece async for piece in client.stream(HttpRequest("GET", f"{base}/500"))]
        with pytest.raises(HttpFailed):
            await client.send(HttpRequest("GET", base, user_address=True))
    with pytest.raises(HttpFailed):
        await client.send(HttpRequest("GET", f"http://127.0.0.1:{free_port()}"))
    await client.close()

    assert seen == [
        ("127.0.0.1", "2xx"),
        ("127.0.0.1", "4xx"),
        ("127.0.0.1", "429"),
        ("127.0.0.1", "5xx"),
        ("127.0.0.1", "5xx"),
        ("user", "address_refused"),
        ("127.0.0.1", "not_sent"),
    ]


def _at(request: HttpRequest, url: str) -> HttpRequest:
    return replace(request, url=url)


def _get(url: str, timeout: float) -> HttpRequest:
    return HttpRequest("GET", url, timeout=timeout)


@pytest.mark.parametrize("user_address", [False, True])
async def test_long_polls_take_no_connection_away_from_others(user_address: bool) -> None:
    begun, news = asyncio.Semaphore(0), asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/poll":
            begun.release()
            await news.wait()
        return web.Response(text="done")

    client = AioHttp(AddressPolicy("open"), max_connections=1)
    async with serving(answer) as base:
        poll = HttpRequest("GET", f"{base}/poll", long_poll=True, user_address=user_address)
        polls = [asyncio.create_task(client.send(poll)) for _ in range(2)]
        for _ in polls:
            await begun.acquire()
        assert (await client.send(HttpRequest("GET", base, user_address=user_address))).ok
        news.set()
        assert all(answer.ok for answer in await asyncio.gather(*polls))
        await client.close()
