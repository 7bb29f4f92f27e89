"""Sources: web pages read again, replaced, removed; redirects, robots.txt, sitemaps; crashes and fairness."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from aiohttp import web

from adapters.outbound.knowledge import fetching
from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.storage.knowledge.vector_indexes import PostgresReindexing
from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.access.sharing import Grantee, Level
from domain.knowledge.sources.model import PageStatus, Source, SourceState
from domain.refusals import Forbidden, Invalid, NotFound
from tests.support.knowledge import Knowledge
from tests.support.platforms.web_site import Answer, WebSite
from tests.support.sources import HtmlParser, KeptForkServer, Sources, sandboxed

POLICY = AddressPolicy("public-only", (ip_network("127.0.0.1/32"),))
PUMP, VALVE = "The cooling pump is serviced in March.", "Valves are stored in the cellar."


@pytest.fixture(scope="module")
def server() -> Iterator[KeptForkServer]:
    server = KeptForkServer()
    yield server
    server.end()


@pytest.fixture
async def sources(database: Database, tmp_path: Path, server: KeptForkServer) -> AsyncIterator[Sources]:
    knowledge = Knowledge(database, tmp_path / "blobs", parser=HtmlParser())
    reader = sandboxed(server)
    made = Sources(knowledge, reader, policy=POLICY)
    yield made
    await made.http.close()
    await reader.close()


@pytest.fixture
async def site() -> AsyncIterator[WebSite]:
    async with WebSite.run() as site:
        yield site


@pytest.fixture
async def base(sources: Sources, ann: Caller) -> int:
    return await sources.knowledge.base(ann)


async def only_page(sources: Sources, ann: Caller, base: int, source: Source) -> tuple[PageStatus, str]:
    (page,) = await sources.pages(ann, base, source.id)
    return page.status, page.error or ""


async def nothing_left_over(sources: Sources) -> None:
    orphans = await PostgresReindexing(sources.database).orphans()
    assert not any(orphans.values()), orphans
    assert await sources.knowledge.count("kb_unused_file") == 0


async def test_what_has_not_changed_is_not_sent_again(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.page("/a", PUMP, "Pumps")
    source = await sources.add(ann, base, f"{site.url}/a", 60.0)
    assert (source.found, source.read, source.failed, source.waiting, source.error) == (1, 1, 0, 0, None)
    assert source.next_at is not None
    assert site.agents == {"Switchboard"}
    (page,) = await sources.pages(ann, base, source.id)
    assert (page.status, page.name) == (PageStatus.READ, "Pumps.html")
    await sources.again(ann, base, source.id)
    assert (site.asked.count("/a"), site.read.count("/a"), site.asked.count("/robots.txt")) == (2, 1, 1)
    (page,) = await sources.pages(ann, base, source.id)
    assert (page.status, page.name) == (PageStatus.READ, "Pumps.html")
    assert await sources.files(ann, base) == {"Pumps.html"}


async def test_a_new_version_is_found_before_the_old_one_goes(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.page("/a", PUMP, "Pumps")
    source = await sources.add(ann, base, f"{site.url}/a")
    site.page("/a", VALVE, "Valves")
    await sources.service.read_now(ann, base, source.id)
    await sources.step()  # the new version waits to be processed
    await sources.step()
    assert await sources.finds(ann, base, "cooling pump") == {"Pumps.html"}
    while await sources.knowledge.work_one():
        pass
    assert await sources.finds(ann, base, "cooling pump valves") == {"Pumps.html", "Valves.html"}
    await sources.work_off()
    assert await sources.finds(ann, base, "cooling pump valves") == {"Valves.html"}
    assert await sources.files(ann, base) == {"Valves.html"}
    await nothing_left_over(sources)


@pytest.mark.parametrize(
    ("status", "kept", "state"),
    [(404, False, "gone"), (410, False, "gone"), (500, True, "failed"), (403, True, "failed")],
)
async def test_what_is_gone_is_removed_and_what_cannot_be_reached_is_kept(
    sources: Sources, site: WebSite, ann: Caller, base: int, status: int, kept: bool, state: str
) -> None:
    site.page("/a", PUMP, "Pumps")
    source = await sources.add(ann, base, f"{site.url}/a")
    site.fails("/a", status)
    source = await sources.again(ann, base, source.id)
    assert await sources.files(ann, base) == ({"Pumps.html"} if kept else set())
    assert await only_page(sources, ann, base, source) == (
        state,
        f"{site.url}/a answers with status {status}",
    )
    assert source.error == f"{site.url}/a answers with status {status}"
    site.page("/a", PUMP, "Pumps")
    await sources.again(ann, base, source.id)
    assert await sources.files(ann, base) == {"Pumps.html"}


async def test_pages_that_leave_the_sitemap_leave_the_base(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.page("/a", PUMP, "Pumps")
    site.page("/b", VALVE, "Valves")
    site.sitemap("/sitemap.xml", ["/a", "/b", "https://elsewhere.example/c"])
    source = await sources.add(ann, base, f"{site.url}/sitemap.xml")
    assert (source.found, source.read, source.note) == (2, 2, "1 addresses of other hosts are passed over.")
    site.sitemap("/sitemap.xml", ["/b"])
    source = await sources.again(ann, base, source.id)
    assert (source.found, source.read) == (1, 1)
    assert await sources.files(ann, base) == {"Valves.html"}
    for answer in (Answer(status=500), Answer(status=404), Answer(b"<html><body>Back soon</body></html>")):
        site.answers["/sitemap.xml"] = answer
        source = await sources.again(ann, base, source.id)
        assert source.error
        assert await sources.files(ann, base) == {"Valves.html"}
    await nothing_left_over(sources)


async def test_the_same_content_at_two_addresses_is_one_file(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    for path in ("/a", "/b"):
        site.page(path, PUMP, "Pumps")
    site.sitemap("/sitemap.xml", ["/a", "/b"])
    source = await sources.add(ann, base, f"{site.url}/sitemap.xml")
    assert (source.found, source.read) == (2, 2)
    assert await sources.knowledge.count("kb_file") == 1
    site.sitemap("/sitemap.xml", ["/b"])
    await sources.again(ann, base, source.id)
    assert await sources.finds(ann, base, "cooling pump") == {"Pumps.html"}
    row = await sources.database.fetch_one("SELECT source_url FROM kb_file")
    assert row == (f"{site.url}/b",)
    site.sitemap("/sitemap.xml", [])
    await sources.again(ann, base, source.id)
    assert await sources.files(ann, base) == set()


async def test_redirects_into_forbidden_networks_are_refused_at_each_hop(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.redirect("/a", "/b")
    for target in ("http://10.1.2.3/", "http://169.254.169.254/", "http://[::1]/", "http://2130706434/"):
        site.redirect("/b", target)
        source = await sources.add(ann, base, f"{site.url}/a")
        status, error = await only_page(sources, ann, base, source)
        assert status is PageStatus.FAILED
        assert "the outbound address policy forbids" in error
    assert site.asked == ["/robots.txt", *["/a", "/b"] * 4]


async def test_redirects_are_followed_so_far(sources: Sources, site: WebSite, ann: Caller, base: int) -> None:
    site.page("/new", PUMP, "Pumps")
    site.redirect("/old", "/new#top")
    assert (await sources.add(ann, base, f"{site.url}/old")).read == 1
    site.redirect("/loop", "/loop")
    source = await sources.add(ann, base, f"{site.url}/loop")
    assert source.error == "it redirects more than 5 times"
    assert site.asked.count("/loop") == 6
    site.redirect("/nowhere", "gopher://x/")
    source = await sources.add(ann, base, f"{site.url}/nowhere")
    assert source.error == "it redirects to what is no address of the web"


async def test_robots_txt_decides(sources: Sources, site: WebSite, ann: Caller, base: int) -> None:
    site.robots(
        "User-agent: *", "Disallow: /private", "User-agent: Switchboard", "Disallow: /b", "Crawl-delay: 7"
    )
    for path in ("/a", "/b", "/private"):
        site.page(path, f"{PUMP} {path}", path)
    site.sitemap("/sitemap.xml", ["/a", "/b", "/private"])
    source = await sources.add(ann, base, f"{site.url}/sitemap.xml")
    pages = {page.address.removeprefix(site.url): page for page in await sources.pages(ann, base, source.id)}
    assert pages["/b"].status is PageStatus.SKIPPED
    assert pages["/b"].error == f"robots.txt of {site.url} forbids it"
    assert {pages["/a"].status, pages["/private"].status} == {PageStatus.READ}
    assert "/b" not in site.asked

    await sources.service.read_now(ann, base, source.id)
    await sources.step()
    assert 6.0 < await sources.hosts.acquire(site.url, 1.0) <= 7.0


async def test_a_site_whose_rules_are_not_known_is_not_read(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.page("/a", PUMP)
    site.fails("/robots.txt", 500)
    source = await sources.add(ann, base, f"{site.url}/a")
    assert "its robots.txt cannot be read" in (source.error or "")
    assert "/a" not in site.asked


async def test_only_the_beginning_of_a_huge_robots_txt_counts(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.page("/a", PUMP)
    lines = ["User-agent: *", "Disallow: /x", *["# nothing"] * 100_000, "User-agent: *", "Disallow: /"]
    site.robots(*lines)
    assert (await sources.add(ann, base, f"{site.url}/a")).read == 1


async def test_a_busy_host_rests_for_as_long_as_it_says(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.page("/a", PUMP)
    page = site.answers["/a"]
    site.fails("/a", 503, Retry_After="120")
    source = await sources.service.add_pages(ann, base, f"{site.url}/a", None)
    await sources.step()
    assert 100.0 < await sources.hosts.acquire(site.url, 1.0) <= 120.0
    await sources.step()  # the host rests: nothing is asked
    assert site.asked == ["/robots.txt", "/a"]
    site.answers["/a"] = page
    await sources.database.execute("UPDATE web_host SET free_at = '-infinity'")
    await sources.work_off()
    assert (await sources.source(ann, base, source.id)).read == 1
    site.fails("/a", 429)
    source = await sources.again(ann, base, source.id)
    assert source.error == f"{site.url} is too busy: it answers with status 429"
    assert await sources.finds(ann, base, "cooling pump")


async def test_a_page_that_is_unavailable_does_not_hold_up_the_others(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.fails("/a", 503, Retry_After="120")
    site.page("/b", PUMP, "Pumps")
    site.page("/c", VALVE, "Valves")
    site.sitemap("/sitemap.xml", ["/a", "/b", "/c"])
    source = await sources.service.add_pages(ann, base, f"{site.url}/sitemap.xml", None)
    for _ in range(4):
        await sources.step()
    assert site.asked == ["/robots.txt", "/sitemap.xml", "/a", "/b", "/c"]
    while await sources.knowledge.work_one():
        pass
    await sources.step()  # only this page is left, and is unavailable again: now the host rests
    assert 100.0 < await sources.hosts.acquire(site.url, 1.0) <= 120.0
    await sources.work_off()
    source = await sources.source(ann, base, source.id)
    assert (source.read, source.failed, source.waiting) == (2, 1, 0)


async def test_a_host_that_serves_no_page_rests(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    pages = [f"/{number}" for number in range(30)]
    for page in pages:
        site.fails(page, 503, Retry_After="120")
    site.sitemap("/sitemap.xml", pages)
    source = await sources.service.add_pages(ann, base, f"{site.url}/sitemap.xml", None)
    for _ in range(3):
        await sources.step()
    assert site.asked == ["/robots.txt", "/sitemap.xml", "/0", "/1"]
    assert await sources.hosts.acquire(site.url, 1.0) > 100.0
    await sources.work_off()
    source = await sources.source(ann, base, source.id)
    assert "the last 10 pages could not be reached" in (source.error or "")


async def test_one_request_at_a_time_goes_to_a_host(
    sources: Sources, site: WebSite, ann: Caller, bob: Caller, base: int
) -> None:
    other = await sources.knowledge.base(bob)
    for user, of in ((ann, base), (bob, other)):
        site.sitemap(f"/{user.user_id}.xml", [f"/{user.user_id}/{number}" for number in range(5)])
        await sources.service.add_pages(user, of, f"{site.url}/{user.user_id}.xml", None)
    await asyncio.gather(*(sources.work_off(rests=True) for _ in range(3)))
    assert site.most_at_once == 1
    assert len(site.asked) == len(set(site.asked)) == 13


async def test_a_sitemap_of_ten_thousand_is_listed_at_once_and_worked_off_in_order(
    sources: Sources, site: WebSite, ann: Caller, bob: Caller, base: int
) -> None:
    site.sitemap("/sitemap.xml", [f"/page/{number}" for number in range(10_000)])
    source = await sources.service.add_pages(ann, base, f"{site.url}/sitemap.xml", None)
    await sources.step()
    listed = await sources.source(ann, base, source.id)
    assert (listed.found, listed.waiting, listed.state) == (10_000, 10_000, SourceState.READING)
    site.page("/mine", VALVE, "Valves")
    other = await sources.knowledge.base(bob)
    await sources.service.add_pages(bob, other, f"{site.url}/mine", None)
    for _ in range(6):
        await sources.step()
    assert site.asked[:2] == ["/robots.txt", "/sitemap.xml"]
    ours = [path for path in site.asked[2:] if path != "/mine"]
    assert ours == [f"/page/{number}" for number in range(len(ours))]
    assert "/mine" in site.asked, "another user's page did not wait for ten thousand"


async def test_an_index_names_sitemaps_which_may_be_zipped(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.sitemap("/index.xml", ["/one.xml.gz", "/two.xml"], index=True)
    site.sitemap("/one.xml.gz", ["/a"], zipped=True)
    site.sitemap("/two.xml", ["/b", "/b#again"])
    site.page("/a", PUMP, "Pumps")
    site.page("/b", VALVE, "Valves")
    source = await sources.add(ann, base, f"{site.url}/index.xml")
    assert (source.found, source.read) == (2, 2)
    source = await sources.again(ann, base, source.id)  # nothing has changed, and nothing is lost
    assert (source.found, source.read) == (2, 2)
    site.sitemap("/index.xml", ["/two.xml"], index=True)
    await sources.again(ann, base, source.id)
    assert await sources.files(ann, base) == {"Valves.html"}


async def test_bombs_are_refused(sources: Sources, site: WebSite, ann: Caller, base: int) -> None:
    bomb = gzip.compress(b'<?xml version="1.0"?><urlset>' + (b" " * 1_000_000 + b"<url/>") * 60)
    site.answers["/bomb.xml.gz"] = Answer(bomb, "application/gzip")
    source = await sources.add(ann, base, f"{site.url}/bomb.xml.gz")
    assert "a sitemap may have 50 MB" in (source.error or "")
    zipped = gzip.compress(b"<html>" + b"x" * 30_000_000)
    site.answers["/bomb"] = Answer(zipped, headers={"Content-Encoding": "gzip"})
    source = await sources.add(ann, base, f"{site.url}/bomb")
    assert "larger than 1 MB" in (source.error or "") or "over" in (source.error or ""), source.error


async def test_an_endless_and_a_slow_body_are_given_up(
    sources: Sources, site: WebSite, ann: Caller, base: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while request.path == "/endless":
            await response.write(b"<p>more</p>" * 10_000)
        await ends.wait()
        return response

    site.answers["/endless"] = site.answers["/slow"] = Answer(handler=endless)
    source = await sources.add(ann, base, f"{site.url}/endless")
    assert source.error == "it is larger than 1 MB"
    monkeypatch.setattr(fetching, "SECONDS", 0.05)
    source = await sources.add(ann, base, f"{site.url}/slow")
    assert "within 0.05 s" in (source.error or "")
    ends.set()


async def test_charsets_and_refusals_of_pages(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    polish = "<html><head><title>Pompy</title></head><body><p>Zażółć gęślą jaźń, pompa chłodząca.</p></body></html>"
    site.answers["/pl"] = Answer(polish.encode("iso-8859-2"), "text/html; charset=iso-8859-2")
    said = "Die Kühlpumpe wird im März gewartet, schöne Grüße aus Köln."
    lie = f"<html><head><title>Grüße</title></head><body><p>{said}</p></body></html>"
    site.answers["/de"] = Answer(lie.encode("cp1252"), "text/html; charset=utf-8")
    site.page("/hidden", PUMP, "Hidden", head='<meta name="robots" content="noindex, follow">')
    site.answers["/tagged"] = Answer(polish.encode(), headers={"X-Robots-Tag": "noindex"})
    site.page("/login", 'Please log in.<form><input type="password"></form>', "Log in")
    site.page("/real", VALVE, "Valves", head='<link rel="canonical" href="/real">')
    site.page("/copy", f"{VALVE} Printed.", "Valves", head='<link rel="canonical" href="/real">')
    site.answers["/note.txt"] = Answer(b"A note on gaskets.", "text/plain")
    paths = ["/pl", "/de", "/hidden", "/tagged", "/login", "/real", "/copy", "/note.txt"]
    site.sitemap("/sitemap.xml", paths)
    source = await sources.add(ann, base, f"{site.url}/sitemap.xml")
    pages = {page.address.removeprefix(site.url): page for page in await sources.pages(ann, base, source.id)}
    assert {path for path, page in pages.items() if page.status is PageStatus.READ} == {
        *("/pl", "/de", "/real", "/note.txt")
    }
    assert await sources.finds(ann, base, "gęślą") == {"Pompy.html"}
    assert await sources.finds(ann, base, "Kühlpumpe") == {"Grüße.html"}
    assert await sources.finds(ann, base, "gaskets") == {"note.txt"}
    assert {pages[path].status for path in ("/hidden", "/tagged", "/copy")} == {PageStatus.SKIPPED}
    assert "password" in (pages["/login"].error or "")
    assert "same page" in (pages["/copy"].error or "")


async def test_after_a_crash_another_worker_goes_on_where_it_was(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    for number in range(3):
        site.page(f"/{number}", f"{PUMP} Number {number}.", f"Page {number}")
    site.sitemap("/sitemap.xml", [f"/{number}" for number in range(3)])
    source = await sources.service.add_pages(ann, base, f"{site.url}/sitemap.xml", None)
    for _ in range(2):
        await sources.step()
    dead, alive = 999, sources.reader
    leased = await sources.worker(dead).take()
    assert leased is not None
    assert await alive.take() is None, "nobody else reads it meanwhile"
    await sources.database.execute("UPDATE kb_source SET due_at = due_at - interval '60 seconds'")
    await sources.work_off()
    assert (await sources.source(ann, base, source.id)).read == 3
    assert site.asked == ["/robots.txt", "/sitemap.xml", "/0", "/1", "/2"]


async def test_a_site_that_is_down_ends_the_pass(
    sources: Sources, site: WebSite, ann: Caller, base: int
) -> None:
    site.sitemap("/sitemap.xml", [f"/{number}" for number in range(30)])
    for number in range(30):
        site.fails(f"/{number}", 502)
    source = await sources.add(ann, base, f"{site.url}/sitemap.xml")
    assert len(site.asked) == 12
    assert (source.found, source.failed, source.waiting) == (30, 30, 0)
    assert "the last 10 pages could not be reached" in (source.error or "")


async def test_removing_a_source_takes_its_files_unless_they_are_kept(
    sources: Sources, site: WebSite, ann: Caller, bob: Caller, base: int
) -> None:
    site.page("/a", PUMP, "Pumps")
    site.answers["/b.txt"] = Answer(VALVE.encode(), "text/plain")
    await sources.knowledge.upload(ann, base, b_txt=VALVE)
    one, two = [await sources.add(ann, base, f"{site.url}/{path}") for path in ("a", "b.txt")]
    with pytest.raises(Forbidden):
        await sources.service.remove(bob, base, one.id, keep_files=False)
    await sources.service.remove(ann, base, one.id, keep_files=True)
    await sources.service.remove(ann, base, two.id, keep_files=False)
    await sources.reader.delete_unused()
    assert await sources.files(ann, base) == {"Pumps.html", "b.txt"}, "ann's own upload stays"
    assert (await sources.service.list(ann, base, 50, 0)).items == []
    again = await sources.add(ann, base, f"{site.url}/a")
    with pytest.raises(NotFound):
        await sources.service.remove(ann, base, one.id, keep_files=False)
    site.page("/c", "Gaskets are red.", "Gaskets")
    third = await sources.add(ann, base, f"{site.url}/c")
    await sources.service.remove(ann, base, third.id, keep_files=False)
    await sources.reader.delete_unused()
    assert "Gaskets.html" not in await sources.files(ann, base)
    await sources.knowledge.bases.delete(ann, base)
    for table in ("kb_source", "kb_source_page", "kb_file", "kb_unused_file"):
        assert await sources.knowledge.count(table) == 0
    assert again.read == 1
    await nothing_left_over(sources)


async def test_whoever_may_not_change_the_base_any_more_feeds_it_no_more(
    sources: Sources, site: WebSite, ann: Caller, bob: Caller, base: int
) -> None:
    site.page("/a", PUMP, "Pumps")
    with pytest.raises(Forbidden):
        await sources.service.add_pages(bob, base, f"{site.url}/a", None)
    await sources.knowledge.bases.set_permission(ann, base, Grantee("bob"), Level.UPDATE)
    source = await sources.add(bob, base, f"{site.url}/a")
    await sources.knowledge.bases.set_permission(ann, base, Grantee("bob"), Level.READ)
    site.page("/a", VALVE, "Valves")
    with pytest.raises(Forbidden):
        await sources.service.read_now(bob, base, source.id)
    source = await sources.again(ann, base, source.id)
    assert source.error == "bob may not change this knowledge base any more"
    assert await sources.files(ann, base) == {"Pumps.html"}


async def test_what_is_refused_at_once(sources: Sources, ann: Caller, base: int) -> None:
    urls = (
        "",
        "ftp://x.example/",
        "file:///etc/passwd",
        "http://",
        "https://u:p@x.example/",
        "http://x:99999/",
    )
    for url in urls:
        with pytest.raises(Invalid, match="url"):
            await sources.service.add_pages(ann, base, url, None)
    for every in (0.0, 0.5, -1.0, float("nan"), float("inf"), 50_000.0):
        with pytest.raises(Invalid, match="every"):
            await sources.service.add_pages(ann, base, "https://x.example/", every)
