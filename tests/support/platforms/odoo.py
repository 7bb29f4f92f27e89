"""An Odoo server with a few tables, as far as the channel uses it: /jsonrpc and its successor /json/2.

After https://www.odoo.com/documentation/18.0/developer/reference/external_api.html, and as measured with Odoo 17: a
note changes x2many fields of its record and leaves `write_date`, dates are of one second, errors of JSON-RPC come
with status 200, and a request for which the pool has no connection left is refused.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from tests.support.platforms.standin import Reply, Seen, StandIn, expect

DATABASE, LOGIN, KEY, UID = "workshop", "switchboard@workshop.example", "an-api-key", 8
MARIA = [5, "Maria Berg"]
OURSELVES = [UID, "Switchboard"]
OUR_PARTNER = 17
POOL = 64
"""Connections to its database (`db_maxconn`)."""
POOL_ERROR = ("psycopg2.pool.PoolError", "The Connection Pool Is Full")
_FIELDS = {
    "id": {"type": "integer", "store": True},
    "name": {"type": "char", "store": True},
    "create_date": {"type": "datetime", "store": True},
    "write_date": {"type": "datetime", "store": True},
    "write_uid": {"type": "many2one", "store": True},
    "active": {"type": "boolean", "store": True},
    "image_1920": {"type": "binary", "store": True},
    "expensive": {"type": "float", "store": False},
    "category_id": {"type": "many2many", "store": True},
    "message_ids": {"type": "one2many", "store": True},
    "message_follower_ids": {"type": "one2many", "store": True},
    "message_main_attachment_id": {"type": "many2one", "store": True},
    "message_bounce": {"type": "integer", "store": True},
    "website_message_ids": {"type": "one2many", "store": True},
    "has_message": {"type": "boolean", "store": False},
    "activity_ids": {"type": "one2many", "store": True},
    "activity_date_deadline": {"type": "date", "store": True},
    "my_activity_date_deadline": {"type": "date", "store": True},
    "rating_last_value": {"type": "float", "store": True},
    "access_token": {"type": "char", "store": True},
    "note_count": {"type": "integer", "store": True, "readonly": True, "depends": ["message_ids"]},
    "partner_name": {"type": "char", "store": True, "readonly": True, "related": "partner_id.name"},
    "__last_update": {"type": "datetime", "store": True},
}


class Refused(Exception):
    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Odoo(StandIn):
    """`make`, `change` and `remove` are what people do in Odoo; `notes` is what was posted on records.

    `seconds` is how long a call takes; `busy` how many are under way, `most` how many ever were, `refused` how many
    found the pool full. Another client takes a connection with `connection`; `full` is how many notes find none.
    `email` is the address of our user; without one Odoo takes no notes. With
    `rule` a rule of somebody else's changes each record that gets a note.
    """

    def __init__(self, *, has_json_rpc: bool = True, version: int = 18, pool: int = POOL) -> None:
        super().__init__()
        self.pool = pool
        self.seconds = 0.0
        self.busy = self.most = self.refused = 0
        self.full = 0
        self.rule = False
        self.email = LOGIN
        self.has_json_rpc = has_json_rpc
        self.version = version
        self.time = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
        self.tables: dict[str, dict[int, dict[str, Any]]] = {
            "res.partner": {},
            "sale.order": {},
            "x.plain": {},
        }
        self.notes: list[tuple[str, int, dict[str, Any]]] = []
        self.reads: list[list[str]] = []

    # what people do

    def make(
        self, name: str, model: str = "res.partner", by: list[Any] = MARIA, at: datetime | None = None
    ) -> int:
        stamp = self._stamp(at)
        table = self.tables[model]
        record_id = max([0, *table]) + 1
        table[record_id] = {
            "id": record_id,
            "name": name,
            "create_date": stamp,
            "write_date": stamp,
            "write_uid": by,
            "active": True,
            "image_1920": "R0lGOD" * 1000,
            "expensive": 1.0,
            "category_id": [],
            "message_ids": [],
            "message_follower_ids": [],
            "message_main_attachment_id": False,
            "message_bounce": 0,
            "website_message_ids": [],
            "has_message": False,
            "activity_ids": [],
            "activity_date_deadline": False,
            "my_activity_date_deadline": False,
            "rating_last_value": 0.0,
            "access_token": False,
            "note_count": 0,
            "partner_name": False,
            "__last_update": stamp,
        }
        return record_id

    def change(
        self, record_id: int, model: str = "res.partner", by: list[Any] = MARIA, **values: Any
    ) -> None:
        self.tables[model][record_id].update(values, write_date=self._stamp(None), write_uid=by)

    def remove(self, record_id: int, model: str = "res.partner") -> None:
        del self.tables[model][record_id]

    def wait(self, **delta: float) -> None:
        self.time += timedelta(**delta)

    def _stamp(self, at: datetime | None) -> str:
        return (at or self.time).strftime("%Y-%m-%d %H:%M:%S")

    @contextmanager
    def connection(self) -> Iterator[None]:
        """A connection of the pool. Raises `Refused` when none is left."""
        if self.busy >= self.pool:
            self.refused += 1
            raise Refused(*POOL_ERROR)
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            yield
        finally:
            self.busy -= 1

    # what the server answers

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            with self.connection():
                await asyncio.sleep(self.seconds)
                return await super().handle(request)
        except Refused as refused:
            reply = self._refusal(refused, request_id=1)
            return web.json_response(reply.json, status=reply.status)

    def _refusal(self, refused: Refused, request_id: object) -> Reply:
        if not self.has_json_rpc:
            return Reply(500, {"name": refused.name, "message": str(refused)})
        data = {"name": refused.name, "message": str(refused), "debug": "Traceback ..."}
        error = {"code": 200, "message": "Odoo Server Error", "data": data}
        return Reply(json={"jsonrpc": "2.0", "id": request_id, "error": error})

    def answer(self, seen: Seen) -> Reply:
        if seen.path == "/jsonrpc" and self.has_json_rpc:
            return self._json_rpc(seen.json)
        if seen.path == "/web/version":
            return Reply(
                json={"version": f"{self.version}.0", "version_info": [self.version, 0, 0, "final", 0, ""]}
            )
        if seen.path.startswith("/json/2/") and not self.has_json_rpc:
            return self._json_2(seen)
        return Reply(404, body=b"<h1>Not Found</h1>")

    def _json_rpc(self, body: dict[str, Any]) -> Reply:
        expect(body["jsonrpc"] == "2.0" and body["method"] == "call", "not JSON-RPC")
        params = body["params"]
        try:
            result = self._service(params["service"], params["method"], params["args"])
        except Refused as refused:
            return self._refusal(refused, body["id"])
        return Reply(json={"jsonrpc": "2.0", "id": body["id"], "result": result})

    def _service(self, service: str, method: str, arguments: list[Any]) -> Any:
        if (service, method) == ("common", "version"):
            return {"server_version_info": [self.version, 0, 0, "final", 0, ""]}
        if (service, method) == ("common", "authenticate"):
            database, login, password, _ = arguments
            if database != DATABASE:
                raise Refused("psycopg2.OperationalError", f'FATAL: database "{database}" does not exist')
            return UID if (login, password) == (LOGIN, KEY) else False
        expect((service, method) == ("object", "execute_kw"), f"{service}.{method}")
        database, uid, password, model, name, positional, named = arguments
        if (database, uid, password) != (DATABASE, UID, KEY):
            raise Refused("odoo.exceptions.AccessDenied", "Access Denied")
        return self._method(model, name, positional, named)

    def _method(self, model: str, name: str, positional: list[Any], named: dict[str, Any]) -> Any:
        if name == "fields_get":
            self._table(model)
            return _FIELDS
        if name in ("search", "search_read"):
            return self._search(model, name, positional[0], **named)
        if (model, name) == ("res.users", "read"):
            return [{"id": UID, "email": self.email or False, "partner_id": [OUR_PARTNER, "Switchboard"]}]
        expect(name == "message_post", name)
        return self._message_post(model, positional[0], **named)

    def _json_2(self, seen: Seen) -> Reply:
        if seen.headers.get("authorization") != f"bearer {KEY}":
            return Reply(401, {"name": "werkzeug.exceptions.Unauthorized", "message": "Invalid apikey"})
        expect(seen.headers.get("x-odoo-database") == DATABASE, "X-Odoo-Database")
        _, _, _, model, name = seen.path.split("/")
        named = dict(seen.json)
        if (model, name) == ("res.users", "search"):
            return Reply(json=[UID] if named["domain"] == [["login", "=", LOGIN]] else [])
        positional = [named.pop(each) for each in ("ids", "domain") if each in named]
        try:
            return Reply(json=self._method(model, name, positional, named))
        except Refused as refused:
            return Reply(422, {"name": refused.name, "message": str(refused)})

    def _table(self, model: str) -> dict[int, dict[str, Any]]:
        if model not in self.tables:
            raise Refused("builtins.KeyError", f"Object {model} doesn't exist")
        return self.tables[model]

    def _search(
        self,
        model: str,
        name: str,
        domain: list[Any],
        order: str = "id",
        limit: int | None = None,
        fields: list[str] | None = None,
        context: dict[str, Any] | None = None,
    ) -> list[Any]:
        records = list(self._table(model).values())
        for field, operator, value in domain:
            expect((field, operator) in (("write_date", ">="), ("id", "in")), f"domain {domain}")
            records = [
                each
                for each in records
                if (each["id"] in value if operator == "in" else each[field] >= value)
            ]
        if (context or {}).get("active_test", True):
            records = [each for each in records if each["active"]]
        for term in reversed(order.split(", ")):
            field, _, direction = term.partition(" ")
            records.sort(key=lambda each, by=field: each[by], reverse=direction == "desc")  # type: ignore[misc]
        records = records[:limit]
        if name == "search":
            return [each["id"] for each in records]
        expect(fields, "fields are not named")
        expect("image_1920" not in (fields or []), "binary fields are read")
        self.reads.append(fields or [])
        return [self._shown(each, fields or []) for each in records]

    @staticmethod
    def _shown(record: dict[str, Any], fields: list[str]) -> dict[str, Any]:
        return {name: record[name] for name in {"id", *fields}}

    def _message_post(self, model: str, ids: list[int], **note: Any) -> Any:
        if model == "x.plain":
            raise Refused("builtins.AttributeError", "The method 'x.plain.message_post' does not exist")
        if "body_is_html" in note and self.version < 17:
            raise Refused("builtins.ValueError", "Those values are not supported: body_is_html")
        (record_id,) = ids
        if record_id not in self.tables[model]:
            raise Refused("odoo.exceptions.MissingError", "Record does not exist or has been deleted.")
        if self.full:
            self.full -= 1
            raise Refused(*POOL_ERROR)
        if not self.email:
            words = "Unable to send message, please configure the sender's email address."
            raise Refused("odoo.exceptions.UserError", words)
        self.notes.append((model, record_id, note))
        self._noted(self.tables[model][record_id], 900 + len(self.notes))
        if self.rule:
            self.wait(seconds=1)
            self.change(record_id, model, name=f"Noted {len(self.notes)} times")
        return 900 + len(self.notes) if self.has_json_rpc else [900 + len(self.notes)]

    @staticmethod
    def _noted(record: dict[str, Any], message_id: int) -> None:
        """A note changes what hangs on its record, and neither who wrote the record nor when."""
        for name in ("message_ids", "website_message_ids"):
            record[name] = [message_id, *record[name]]
        record["message_follower_ids"] = sorted({*record["message_follower_ids"], OUR_PARTNER})
        record["has_message"] = True
        record["message_main_attachment_id"] = [message_id, "note.txt"]
        record["my_activity_date_deadline"] = str(message_id)
        record["access_token"] = f"token {message_id}"
        record["note_count"] += 1
