"""What the contract suite needs of this channel."""

from adapters.outbound.channels.common.bodies import items
from adapters.outbound.channels.tests.sample import Opening, Sample
from adapters.outbound.channels.tests.support import refusal
from ports.http import HttpAnswer

SAMPLE = Sample(
    fields=(
        "erpUrl string R, database string R, username string R, password string R, "
        "models string R, events string R, checkInterval number, webhookUrl string"
    ),
    config={
        "erpUrl": "https://workshop.odoo.example",
        "database": "workshop",
        "username": "switchboard@workshop.example",
        "password": "an-api-key",
        "models": "res.partner",
        "events": "create,write,unlink",
    },
    target={"model": "res.partner", "recordId": 1, "event": "write", "key": "k", "record": {"id": 1}},
    prelude=[
        HttpAnswer(200, {}, b'{"jsonrpc": "2.0", "id": 1, "result": 8}'),
        HttpAnswer(200, {}, b'{"jsonrpc": "2.0", "id": 1, "result": {"server_version_info": [18]}}'),
    ],
    openings=(
        Opening(
            "sale.order:42",
            "sale.order:42",
            lambda request: (
                items(request.json, "params", "args")[3:6] == ["sale.order", "message_post", [[42]]]
            ),
        ),
    ),
    no_addresses=(
        "sale.order",
        "sale.order:0",
        "sale.order:x",
        "42",
        "Sale.Order:42",
        "sale..order:42",
        "a:1:2",
    ),
    of_recipient=[
        refusal(
            200,
            jsonrpc="2.0",
            error={
                "message": "Odoo Server Error",
                "data": {
                    "name": "odoo.exceptions.MissingError",
                    "message": "Record does not exist or has been deleted.",
                },
            },
        )
    ],
)
