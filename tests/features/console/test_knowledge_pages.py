"""The pages of knowledge bases over plain HTTP: rights, forms without a script, tokens, hostile texts, long files."""

import hashlib
import html
import re
from collections.abc import Callable
from urllib.parse import urlencode

import httpx
import pytest

from domain.access.model import Caller, Role, TeamMember
from tests.drivers.served import ServedWorld
from tests.support.waiting import until

Client = Callable[[str], httpx.Client]
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
NOT_THERE = "/console/knowledge/999999"
ADMIN = Caller("admin", Role.ADMIN)


def token_of(client: httpx.Client, path: str = "/console/knowledge") -> str:
    match = re.search(r'<meta name="csrf" content="([0-9a-f]+)">', client.get(path).text)
    assert match
    return match[1]


def post(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    return client.post(path, data={"csrf": token_of(client), **fields})


def base_of(client: httpx.Client, name: str = "Handbook", description: str = "") -> str:
    """The path of a new base."""
    made = post(client, "/console/knowledge", name=name, description=description)
    assert made.status_code == 303, made.text
    return made.headers["location"]


def upload(
    client: httpx.Client, base: str, name: str, content: bytes, token: str | None = None
) -> httpx.Response:
    """As a form without a script sends it: the token first, then the files."""
    fields = {"csrf": token_of(client) if token is None else token}
    return client.post(f"{base}/upload", data=fields, files={"files": (name, content)})


def ready(client: httpx.Client, base: str, name: str, content: str) -> str:
    """The path of a file that can be found."""
    assert upload(client, base, name, content.encode()).status_code == 303
    until(lambda: ">Ready<" in client.get(base).text, "the file is ready")
    return f"{base}/files/{hashlib.sha256(content.encode()).hexdigest()}"


def test_a_form_says_what_is_wrong_and_keeps_what_was_typed(client: Client, world: ServedWorld) -> None:
    ann = client("ann")
    refused = post(ann, "/console/knowledge", name=" ", description="What we know")
    assert refused.status_code == 400
    assert "must not be empty" in refused.text
    assert "What we know" in refused.text
    base = base_of(ann)
    renamed = post(ann, f"{base}/settings", name="n" * 201, description="kept")
    assert renamed.status_code == 400
    assert "kept" in renamed.text
    owner = post(ann, f"{base}/share", user="ann", level="1")
    assert owner.status_code == 400
    assert "keeps level 3" in owner.text
    assert post(ann, f"{base}/share", user="bob", level="nine").status_code == 400
    searched = ann.get(f"{base}/search", params={"q": " "})
    assert (searched.status_code, "must not be empty" in searched.text) == (400, True)


def test_everybody_sees_and_does_what_their_level_allows(client: Client, world: ServedWorld) -> None:
    ann, bob = client("ann"), client("bob")
    base = base_of(ann)
    file = ready(ann, base, "pumps.txt", "The cooling pump stands in hall seven.")
    pages = (
        "",
        "/search",
        "/ask",
        "/settings",
        file.removeprefix(base),
        f"{file.removeprefix(base)}/download",
    )
    assert {bob.get(base + path).status_code for path in pages} == {403}
    assert {ann.get(NOT_THERE + path).status_code for path in pages} == {404}
    assert {ann.get(base + path).status_code for path in pages} == {200}
    assert ann.get(f"{base}/files/{'0' * 64}").status_code == 404

    assert post(ann, f"{base}/share", user="bob", level="1").status_code == 303
    seen = bob.get(base).text
    assert "pumps.txt" in seen
    assert "Add files" not in seen
    assert "Delete" not in seen
    assert bob.get(f"{base}/settings").status_code == 403
    for change in ("/upload", "/settings", "/share", "/delete", f"{file.removeprefix(base)}/delete"):
        assert post(bob, base + change, name="x", user="bob", level="3").status_code == 403, change
    assert upload(bob, base, "mine.txt", b"mine").status_code == 403
    assert "hall seven" in post(bob, f"{base}/ask", question="Where is the cooling pump?").text

    post(ann, f"{base}/share", user="bob", level="2")
    assert "Who may use it" not in bob.get(f"{base}/settings").text
    assert post(bob, f"{file}/delete").status_code == 303
    assert "No files yet" in ann.get(base).text
    assert post(bob, f"{base}/delete").status_code == 403
    post(ann, f"{base}/share", user="bob", level="0")
    assert bob.get(base).status_code == 403
    team = world.run(world.container.use_cases().teams.create(ADMIN, "Support", [TeamMember("bob")])).id
    assert post(ann, f"{base}/share", user="", team=str(team), level="1").status_code == 303
    assert bob.get(base).status_code == 200
    settings = ann.get(f"{base}/settings").text
    assert f"team {team}" in settings
    assert "None" not in settings
    assert post(ann, f"{base}/share", user="", team=str(team), level="0").status_code == 303
    assert bob.get(base).status_code == 403
    assert post(bob, f"{base}/ask", question="Where is the cooling pump?").status_code == 403


def test_the_list_keeps_its_filter_when_a_file_is_deleted(client: Client, world: ServedWorld) -> None:
    ann = client("ann")
    base = base_of(ann)
    for name in ("pump & motor.txt", "pump & valve.txt", "canteen.txt"):
        ready(ann, base, name, f"All about {name}.")
    filtered = f"{base}?{urlencode({'name': 'pump &'})}"
    for headers, left in ({}, 1), ({"hx-request": "true"}, 0):
        action = re.search(r'action="([^"]+/delete[^"]*)"', ann.get(filtered).text)
        assert action
        deleted = ann.post(html.unescape(action[1]), data={"csrf": token_of(ann)}, headers=headers)
        shown = deleted if headers else ann.get(deleted.headers["location"])
        assert "canteen.txt" not in shown.text
        assert shown.text.count('scope="row"') == left


def test_an_upload_without_our_token_is_refused_before_its_files_are_read(
    client: Client, world: ServedWorld
) -> None:
    ann = client("ann")
    base = base_of(ann)
    token = token_of(ann)
    assert upload(ann, base, "pumps.txt", b"The pump.", token="0" * 64).status_code == 403
    behind = [("files", ("pumps.txt", b"The pump.")), ("csrf", (None, token))]
    assert ann.post(f"{base}/upload", files=behind).status_code == 403
    elsewhere = {"x-csrf-token": token, "origin": "https://evil.example"}
    assert ann.post(f"{base}/upload", files=behind, headers=elsewhere).status_code == 403
    assert "No files yet" in ann.get(base).text
    large = b"A long text. " * 200_000  # more than any other form may have
    accepted = upload(ann, base, "pumps.txt", large)
    assert accepted.status_code == 303
    assert "pumps.txt" in ann.get(base).text


def test_files_that_cannot_be_taken_are_named(client: Client, world: ServedWorld) -> None:
    ann = client("ann")
    base = base_of(ann)
    refused = upload(ann, base, "tool.exe", b"MZ\x90\x00\x03\x00\x00\x00")
    assert refused.status_code == 400
    assert "tool.exe" in refused.text
    assert "not of a supported format" in refused.text
    nothing = ann.post(f"{base}/upload", data={"csrf": token_of(ann)}, files={"files": ("", b"")})
    assert (nothing.status_code, "No files uploaded" in nothing.text) == (400, True)
    file = ready(ann, base, "pumps.txt", "The cooling pump.")
    again = upload(ann, base, "pumps.txt", b"The cooling pump.")
    assert "in%20this%20base%20already" in again.headers["set-cookie"].replace(" ", "%20")
    assert post(ann, f"{file}/retry").status_code == 409
    part = ann.post(f"{file}/delete", headers={"x-csrf-token": token_of(ann), "hx-request": "true"})
    assert part.text.startswith('<section id="files"')
    assert "No files yet" in part.text


@pytest.fixture
def hostile(client: Client, world: ServedWorld) -> tuple[httpx.Client, list[str]]:
    ann = client("ann")
    base = base_of(ann, HOSTILE, HOSTILE)
    file = ready(ann, base, f"{HOSTILE}.txt", f"# {HOSTILE}\n\nThe pump {HOSTILE} stands here.")
    upload(ann, base, f"{HOSTILE}.html", b"<html></html>")
    until(lambda: ">Failed<" in ann.get(base).text, "the other file failed")
    post(ann, f"{base}/share", user=HOSTILE, level="1")
    searches = [f"{base}/search?q={query}" for query in ("pump", "%3Cscript%3Ealert(1)%3C/script%3E")]
    return ann, ["/console/knowledge", base, f"{base}/settings", file, *searches]


def test_texts_of_strangers_are_never_markup(hostile: tuple[httpx.Client, list[str]]) -> None:
    ann, paths = hostile
    for path in paths:
        page = ann.get(path)
        assert page.status_code == 200, path
        assert "alert(1)" in page.text, path
        assert "<script>" not in page.text, path
        assert "<img" not in page.text, path


def test_a_long_text_is_shown_in_parts_and_a_hit_leads_to_its_part(
    client: Client, world: ServedWorld
) -> None:
    ann = client("ann")
    base = base_of(ann)
    words = "the quick brown machine of hall seven runs well and is never stopped by anybody here"
    text = "\n\n".join(f"Paragraph number{each}x. {words} {words} {words} {words}." for each in range(60))
    file = ready(ann, base, "long.txt", text)
    first, last = ann.get(file), ann.get(f"{file}?at=59")
    assert "Paragraph number0x" in first.text
    assert "Paragraph number0x" not in last.text
    assert "Part 1 of" in first.text
    assert len(first.content) < 50_000
    found = ann.get(f"{base}/search", params={"q": "number59x"}).text
    link = re.search(r'href="([^"]*\?at=\d+)#(chunk-\d+)"', found)
    assert link
    shown = ann.get(link[1]).text
    assert f'id="{link[2]}"' in shown
    assert "Paragraph number59x" in shown
    assert ann.get(f"{file}?at=x").status_code == 400
    assert ann.get(f"{file}?at=9999").status_code == 404


def test_a_search_takes_options(client: Client, world: ServedWorld) -> None:
    ann = client("ann")
    base = base_of(ann)
    file = ready(ann, base, "pumps.txt", "The cooling pump stands in hall seven.")
    upload(ann, base, "valves.txt", b"The valve of the cooling pump stands in the cellar.")
    until(lambda: ann.get(base).text.count(">Ready<") == 2, "both files are ready")

    for name, shown in (("", 2), ("PUMP", 1), ("fan", 0)):
        assert ann.get(base, params={"name": name}).text.count(">Ready<") == shown

    def found(**options: str) -> list[str]:
        page = ann.get(f"{base}/search", params={"q": "cooling pump", **options})
        assert page.status_code == 200, page.text
        return re.findall(r"<b>\d+\.</b> <a [^>]*>([^<]+)</a>", page.text)

    assert sorted(found()) == ["pumps.txt", "valves.txt"]
    assert len(found(topK="1")) == 1
    assert found(fileIds=file.rpartition("/")[2], perFile="1", minSimilarity="0.01") == ["pumps.txt"]
    assert "not compared" in ann.get(f"{base}/search", params={"q": "cooling pump", "mode": "text"}).text
    assert f"search?fileIds={file.rpartition('/')[2]}" in ann.get(file).text
    wrong = {
        "topK": ("0", "51", "2.5", "x"),
        "perFile": ("0", "x"),
        "minSimilarity": ("2", "nan"),
        "mode": ("x",),
    }
    for field, values in {**wrong, "fileIds": ("x",)}.items():
        for value in values:
            page = ann.get(f"{base}/search", params={"q": "pump", field: value})
            assert (page.status_code, "must be" in page.text) == (400, True), (field, value)


def test_an_answer_leads_to_what_it_relies_on(client: Client, world: ServedWorld) -> None:
    ann = client("ann")
    base = base_of(ann)
    file = ready(ann, base, "pumps.txt", f"The cooling pump {HOSTILE} stands in hall seven.")
    page = post(ann, f"{base}/ask", question="The cooling pump stands in hall seven").text
    assert "<script>" not in page
    assert "<img" not in page
    assert f'<a href="{file}?at=0#chunk-0" dir="auto">pumps.txt</a>' in page
    assert "<q" in page
    assert "Nothing found" in post(ann, f"{base}/ask", question="zebra").text
    refused = post(ann, f"{base}/ask", question=" ")
    assert (refused.status_code, "must not be empty" in refused.text) == (400, True)


def test_a_download_has_the_bytes_and_the_name(client: Client, world: ServedWorld) -> None:
    ann = client("ann")
    file = ready(ann, base_of(ann), "pumps.txt", "The cooling pump.")
    answer = ann.get(f"{file}/download")
    assert answer.content == b"The cooling pump."
    assert answer.headers["content-disposition"] == 'attachment; filename="pumps.txt"'
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_web_pages_are_added_read_again_and_removed(client: Client, world: ServedWorld) -> None:
    ann = client("ann")
    base = base_of(ann)
    refused = post(ann, f"{base}/sources", url="mailto:ann", every="soon")
    assert refused.status_code == 400
    assert "must be an address that begins with http:// or https://" in refused.text
    assert "mailto:ann" in refused.text
    refused = post(ann, f"{base}/sources", url="http://127.0.0.1:9/a", every="soon")
    assert "leave it out to read the page once" in refused.text

    assert post(ann, f"{base}/sources", url="http://127.0.0.1:9/a").status_code == 303
    until(lambda: ">Failed<" in ann.get(f"{base}/sources").text, "the source was read")
    page = ann.get(f"{base}/sources").text
    assert "its robots.txt cannot be read" in page
    match = re.search(rf'href="({base}/sources/[0-9]+)"', page)
    assert match
    assert "its robots.txt cannot be read" in ann.get(match[1]).text
    assert post(ann, f"{match[1]}/read").status_code == 303
    assert client("bob").get(f"{base}/sources").status_code in (403, 404)
    assert post(ann, f"{match[1]}/remove").status_code == 303
    assert match[1] not in ann.get(f"{base}/sources").text
