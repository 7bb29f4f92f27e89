"""What holds for every page and every form, as the table of routes has them: a new route is covered by itself."""

import re
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

import httpx
from playwright.sync_api import Route, expect

from adapters.inbound.console.app import build_console
from adapters.inbound.console.sessions import SESSION, SIGN_IN
from adapters.inbound.rest.examples import CONFIGS
from domain.access.model import Role
from domain.agents.model import AgentDefinition, AgentTool
from domain.instances.model import NewInstance
from ports.channels import AnyChannel
from tests.drivers.served import ServedWorld
from tests.drivers.world import SERVICE_KEY
from tests.features.console.conftest import Open
from tests.features.console.furnished import Furnished
from tests.features.console.requests import posted, token_of
from tests.support.plain_http import plain_client

HOSTILE = (
    "\"'></textarea></title><script>hacked=1</script><img src=hacked onerror=hacked=2>"
    '<a href="javascript:hacked=3">x</a><b hacked>{{7*7}}</b>'
)
OPEN_FORMS = (
    SIGN_IN,
    f"{SIGN_IN}/mail",
    f"{SIGN_IN}/passkey",
    f"{SIGN_IN}/passkey/challenge",
    "/console/invitation",
)
OPEN = (
    "/",
    *OPEN_FORMS,
    f"{SIGN_IN}/provider",
    f"{SIGN_IN}/callback",
    f"{SIGN_IN}/account/{{provider}}",
    f"{SIGN_IN}/account/{{provider}}/callback",
    "/console/static/{name}",
)
STREAM = "/console/live"
BY_HTMX = {"hx-request": "true"}
SIGN_OUT = "/console/sign-out"
"""Whoever has no session may sign out."""
EDIT = "/console/channels/{instance}/edit"
SECRET = "s3cret-0815"
NO_BREAK_SPACE = "\u00a0".encode()
PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
NOBODYS = {"type": "http-webhook", "provider": "gaming-chat", "action": "replay", "name": "console.css"}
"""Parameters of paths that name nothing of a user."""


def routes(method: str) -> list[str]:
    """The paths of all routes with this method that need somebody to have signed in."""
    table = build_console(None, None).routes  # type: ignore[arg-type]
    paths = [route.path for route in table if method in route.methods]  # type: ignore[attr-defined]
    return [path for path in paths if path not in OPEN]


def filled(path: str, parameters: Mapping[str, str]) -> str:
    """The path with values for its parameters; one that is new has to be added to `Furnished` or `NOBODYS`."""
    return PARAMETER.sub(lambda found: {**NOBODYS, **parameters}[found[1]], path)


class Strange(HTMLParser):
    """Finds what a stranger's text made of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._script = False
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag == "script" and not (values.get("src") or "").startswith("/console/static/"):
            self.found.append("a script")
        for name, value in attributes:
            address = name in ("href", "src", "action", "formaction") and (value or "").lower().lstrip()
            if name.startswith("on") or "hacked" in name or (address and address.startswith("javascript")):
                self.found.append(f"{tag} {name}={value}")
            if tag == "img" and name == "src" and value == "hacked":
                self.found.append("an image")
        if tag in ("style", "iframe", "object", "embed", "base"):
            self.found.append(tag)


class Forms(HTMLParser):
    """The forms of a page that change something: where they go, and their fields with what stands in them."""

    def __init__(self, html: str, here: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self._here = here
        self._fields: dict[str, str] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "form":
            self._fields = {}
            if values.get("method", "").lower() == "post":
                self.found.append((values.get("action") or self._here, self._fields))
        elif self._fields is not None and (name := values.get("name")):
            self._fields.setdefault(name, values.get("value") or "1")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._fields = None


def strange(answer: httpx.Response) -> list[str]:
    if not answer.headers.get("content-type", "").startswith("text/html"):
        return []
    found = Strange(answer.text).found
    return found + (["a template was run"] if "<b hacked" in answer.text or ">49<" in answer.text else [])


def a_client(world: ServedWorld, user: str, role: Role = Role.MEMBER) -> httpx.Client:
    key = world.key_of(user, role)
    session = world.run(world.container.use_cases().sessions.sign_in(key, "127.0.0.1"))
    return plain_client(world.url, cookies={SESSION: session.token})


SHOWN_BY = ("", "/overview/state", "/channels", "/inbox", "/problems", "/keys", "/knowledge", "/schedules")
"""Below `/console`: pages that surely show something of it."""
SEARCHED = ("q", "query", "resource", "message", "tab", "at", "link", "token", "state", "code", "error")
CHECKED = ("cursor", "status", "instanceId", "direction", "period", "next", "limit")
LAST = ("/delete", "/sign-out")


def test_markup_of_strangers_is_text_and_runs_nowhere(world: ServedWorld, window: Open) -> None:
    """An admin with a hostile name looks at things with hostile texts in every field."""
    furnished = Furnished(world, HOSTILE, Role.ADMIN, HOSTILE)
    with a_client(world, HOSTILE, Role.ADMIN) as client:
        answers = {
            path: client.get(filled(path, furnished.parameters)) for path in routes("GET") if path != STREAM
        }
        shown = {path for path, answer in answers.items() if "hacked" in answer.text}
        assert {f"/console{path}" for path in SHOWN_BY} <= shown
        assert [*shown_wrongly(answers.values()), *reflected_wrongly(client, furnished)] == []
        run_nowhere(world, window, client, answers.values())
        assert list(shown_wrongly(sent_back(client, furnished, answers.values()))) == []


def shown_wrongly(answers: Iterable[httpx.Response]) -> Iterator[str]:
    for answer in answers:
        assert answer.status_code < 500, (answer.url, answer.text[:300])
        yield from (f"{answer.url.path}: {fault}" for fault in strange(answer))


def reflected_wrongly(client: httpx.Client, furnished: Furnished) -> Iterator[str]:
    """What is wrong with pages whose query is hostile."""
    for path in [*routes("GET"), *OPEN[1:-1]]:
        for names in (SEARCHED, CHECKED) if path != STREAM else ():
            address = filled(path, furnished.parameters)
            yield from shown_wrongly([client.get(address, params=dict.fromkeys(names, HOSTILE))])


def run_nowhere(
    world: ServedWorld, window: Open, client: httpx.Client, answers: Iterable[httpx.Response]
) -> None:
    """Opens the pages in a browser. The window's fixture fails for what the policy of contents had to stop."""
    seen = window()
    seen.context.add_cookies(
        [{"name": SESSION, "value": client.cookies[SESSION], "url": f"{world.url}/console"}]
    )
    for answer in answers:
        if answer.status_code == 200 and "<html" in answer.text:
            seen.go(answer.url.path)
            assert seen.page.url == str(answer.url)
            assert seen.page.evaluate("typeof hacked") == "undefined", answer.url.path


def sent_back(
    client: httpx.Client, furnished: Furnished, pages: Iterable[httpx.Response]
) -> Iterator[httpx.Response]:
    """The answers to forms with a hostile text in every field that any page has."""
    names = {name for page in pages for name in re.findall(r' name="([a-zA-Z0-9_]+)"', page.text)}
    form = {**dict.fromkeys(names, HOSTILE), "csrf": token_of(client)}
    for path in sorted(routes("POST"), key=lambda path: path.endswith(LAST)):
        yield client.post(filled(path, furnished.parameters), data=form)


def owned(method: str, furnished: Furnished) -> Iterator[str]:
    """The addresses of pages, or of what changes something, that name what belongs to a user."""
    for path in routes(method):
        if set(PARAMETER.findall(path)) & set(furnished.parameters):
            yield filled(path, furnished.parameters)


def test_what_belongs_to_somebody_else_is_refused_on_every_page(world: ServedWorld) -> None:
    furnished = Furnished(world, "ann", Role.MEMBER, "of ann alone")
    with a_client(world, "bob") as bob:
        for address in owned("GET", furnished):
            answer = bob.get(address)
            assert answer.status_code in (403, 404), (address, answer.status_code)
            assert "of ann alone" not in answer.text, address


def test_what_belongs_to_somebody_else_is_changed_by_no_form(world: ServedWorld) -> None:
    """Bob sends all forms of ann's pages, with his own token."""
    furnished = Furnished(world, "ann", Role.MEMBER, "of ann alone")
    forms: dict[str, list[dict[str, str]]] = {}
    with a_client(world, "ann") as ann, a_client(world, "bob") as bob:
        for address in owned("GET", furnished):
            for action, fields in Forms(ann.get(address).text, address).found:
                forms.setdefault(action, []).append(fields)
        token = token_of(bob)
        for address in owned("POST", furnished):
            for fields in forms.get(address, [{}]):
                answer = bob.post(address, data={**fields, "csrf": token})
                assert answer.status_code in (403, 404), (address, fields, answer.status_code)
                assert "of ann alone" not in answer.text, address
        assert set(owned("POST", furnished)) & set(forms)


def test_forms_of_other_sites_are_refused(world: ServedWorld) -> None:
    furnished = Furnished(world, "ann", Role.MEMBER, "x")
    with a_client(world, "ann") as ann:
        token = token_of(ann)
        foreign = {"origin": "https://evil.example"}
        for path in [*routes("POST"), *OPEN_FORMS]:
            address = filled(path, furnished.parameters)
            answers = {
                "no token": ann.post(address, data={"x": "y"}),
                "another token": ann.post(address, data={"csrf": "0" * 64}, files={"file": ("a.txt", b"x")}),
                "another site": ann.post(address, data={"csrf": token}, headers=foreign),
            }
            statuses = {name: answer.status_code for name, answer in answers.items()}
            assert set(statuses.values()) == {403}, (path, statuses)


def test_nothing_is_shown_without_a_session_or_with_one_whose_key_is_revoked(world: ServedWorld) -> None:
    access = world.container.access()
    with a_client(world, "ann") as ann, plain_client(world.url) as nobody:
        token = token_of(ann)
        [key] = [each for each in world.run(access.list_keys()) if each.user_id == "ann"]
        world.run(access.revoke_key(key.id))
        for client in (ann, nobody):
            for method in ("GET", "POST"):
                for path in set(routes(method)) - {SIGN_OUT, STREAM}:
                    form = {"data": {"csrf": token}} if method == "POST" else {}
                    answer = client.request(method, PARAMETER.sub("1", path), **form)
                    where = (method, path, answer.status_code)
                    assert answer.status_code == 303, where
                    assert answer.headers["location"].startswith(SIGN_IN), where
                    part = client.request(method, PARAMETER.sub("1", path), headers=BY_HTMX, **form)
                    assert (part.status_code, part.content) == (204, b""), where
                    assert part.headers["hx-trigger"] == "signed-out", where
            stream = client.get(STREAM)
            assert (stream.status_code, stream.content) == (204, b"")


def test_a_proxy_that_names_nobody_may_do_nothing(world: ServedWorld) -> None:
    """The service key alone would be everybody; a cookie with a key is no session."""
    furnished = Furnished(world, "ann", Role.MEMBER, "of ann alone")
    bearer = {"authorization": f"Bearer {SERVICE_KEY}"}
    ways: dict[str, tuple[dict[str, Any], int]] = {
        "no name": ({**bearer}, 403),
        "an empty name": ({**bearer, "x-user-id": ""}, 403),
        "a name of blanks": ({**bearer, "x-user-id": NO_BREAK_SPACE}, 400),
        "the service key as a cookie": ({"cookie": f"{SESSION}={SERVICE_KEY}"}, 303),
        "an API key as a cookie": ({"cookie": f"{SESSION}={world.key_of('admin', Role.ADMIN)}"}, 303),
    }
    with plain_client(world.url) as client:
        for way, (headers, status) in ways.items():
            for method in ("GET", "POST"):
                for path in set(routes(method)) - {SIGN_OUT}:
                    answer = client.request(method, filled(path, furnished.parameters), headers=headers)
                    expected = 204 if path == STREAM and status == 303 else status
                    assert answer.status_code == expected, (way, method, path)
                    assert "of ann alone" not in answer.text, (way, path)
        named = client.get("/console", headers=[*bearer.items(), ("x-user-id", "ann"), ("x-user-id", "bob")])
        assert named.status_code == 400


def test_no_page_shows_a_secret(world: ServedWorld) -> None:
    """Those of the configurations of all channels and of a stored agent, the key, the session."""
    furnished = Furnished(world, "admin", Role.ADMIN, "x")
    server = AgentTool(
        {"name": "s", "url": "https://mcp.example"}, f"{SECRET}-mcp", {"X-Key": f"{SECRET}-header"}
    )
    model = {"url": "https://ada:password-1@model.example/v1", "model": "m"}
    agent = AgentDefinition("chat-completions", model, secret=f"{SECRET}-agent", mcp_servers=(server,))
    world.run(world.container.storage().agents.add("admin", "sealed", "Sealed", agent, (), 10))
    with a_client(world, "admin", Role.ADMIN) as admin:
        assert "agent::sealed" in admin.get("/console/resources").text
        secrets = (SECRET, "password-1", furnished.key, admin.cookies[SESSION])
        for channel in world.container.channels().registry.all():
            parameters = {"instance": str(with_secrets(world, channel))}
            paths = [path for path in routes("GET") if path.startswith("/console/channels/{instance}")]
            answers = [admin.get(filled(path, parameters)) for path in paths]
            answers.append(posted(admin, filled(EDIT, parameters), {"channelName": ""}))
            assert [
                str(answer.url) for answer in answers for secret in secrets if secret in answer.text
            ] == []
        for path in set(routes("GET")) - {STREAM}:
            text = admin.get(filled(path, furnished.parameters)).text
            assert [secret for secret in secrets if secret in text] == [], path


def with_secrets(world: ServedWorld, channel: AnyChannel) -> int:
    """An instance of the channel with a value in every secret field."""
    definition = channel.definition
    secrets = {field.name: f"{SECRET}-{field.name}" for field in definition.fields if field.secret}
    config = {**CONFIGS.get(definition.id, {}), **secrets}
    instances = world.container.storage().instances
    return world.run(instances.add("admin", NewInstance(definition.id, "With secrets", config))).id


def test_no_page_is_framed_or_runs_what_it_does_not_have(world: ServedWorld) -> None:
    """All HTML of the gateway: the console's for somebody with and without a session, and what stands beside it."""
    furnished = Furnished(world, "ann", Role.MEMBER, "x")
    beside = (
        "/docs",
        "/api/agent/verification/callback/gaming-chat?state=x&code=y",
        SIGN_IN,
        "/console/nothing",
    )
    pages = [*beside, *(filled(path, furnished.parameters) for path in set(routes("GET")) - {STREAM})]
    seen, wrong = 0, []
    with a_client(world, "ann") as ann, plain_client(world.url) as nobody:
        for client, headers in ((ann, {}), (nobody, {}), (nobody, {"sec-fetch-site": "cross-site"})):
            for answer in (client.get(page, headers=headers) for page in pages):
                if not answer.headers.get("content-type", "").startswith("text/html"):
                    continue
                seen += 1
                policy = answer.headers.get("content-security-policy", "")
                if not {"default-src 'none'", "frame-ancestors 'none'"} <= set(policy.split("; ")) or (
                    answer.headers.get("x-frame-options"),
                    answer.headers.get("x-content-type-options"),
                ) != ("DENY", "nosniff"):
                    wrong.append((str(answer.url), answer.status_code, policy))
    assert seen > len(pages)
    assert wrong == []


def of_one_operation(route: Route) -> None:
    answer = route.fetch()
    description = answer.json()
    operation, schemas = description["paths"]["/healthz"], description["components"]["schemas"]
    names = re.findall(r"#/components/schemas/(\w+)", str(operation))
    description["paths"] = {"/healthz": operation}
    description["components"]["schemas"] = {name: schemas[name] for name in names}
    route.fulfill(response=answer, json=description)


def test_the_description_of_the_api_runs_its_own_scripts_alone_and_in_no_frame(
    world: ServedWorld, window: Open
) -> None:
    """The window's fixture fails for what the policy of contents had to stop of Swagger UI itself. It shows one
    operation: showing all of the interface takes a minute of the processor."""
    with plain_client(world.url) as client:
        headers = client.get("/docs").headers
    policy = dict(rule.strip().partition(" ")[::2] for rule in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy["script-src"]
    assert headers["x-frame-options"] == "DENY"
    seen = window()
    seen.page.route("**/openapi.json", of_one_operation)
    seen.go("/docs")
    expect(seen.page.get_by_role("heading", name="Switchboard", exact=False)).to_be_visible()
    operation = seen.page.get_by_role("button", name="GET /healthz", exact=False).first
    operation.click()
    seen.page.get_by_role("button", name="Try it out").click()
    seen.page.get_by_role("button", name="Execute").click()
    expect(seen.page.locator(".live-responses-table")).to_contain_text("ok")
    seen.page.evaluate(
        "document.head.append(Object.assign(document.createElement('script'), {text: 'hacked=1'}))"
    )
    assert seen.page.evaluate("typeof hacked") == "undefined"
    assert seen.faults
    seen.faults.clear()
