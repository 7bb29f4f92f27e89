"""What the Odoo channel is: its fields and its set-up on the real platform."""

from __future__ import annotations

from domain.channels.model import ChannelDefinition, ConfigField, Format, SetupInstructions

DEFINITION = ChannelDefinition(
    id="erp-events",
    name="Odoo",
    description="Watches records of an Odoo database, tells the resource of every created, changed or "
    "deleted record, and writes the answer as a note on the record.",
    fields=(
        ConfigField(
            "erpUrl",
            "string",
            "Address of the Odoo server, for example https://example.odoo.com.",
            required=True,
            format=Format.BASE_URL,
        ),
        ConfigField("database", "string", "Name of the Odoo database.", required=True),
        ConfigField("username", "string", "Login of the Odoo user.", required=True),
        ConfigField(
            "password",
            "string",
            "Password of the user or, better, an API key of the user.",
            required=True,
            secret=True,
        ),
        ConfigField(
            "models",
            "string",
            "Comma-separated technical names of the models to watch, for example sale.order,res.partner.",
            required=True,
            format=Format.CSV,
        ),
        ConfigField(
            "events",
            "string",
            "Comma-separated kinds of event to report: create, write, unlink.",
            required=True,
            format=Format.EVENTS_CSV,
        ),
        ConfigField(
            "checkInterval",
            "number",
            "Minutes between two checks; fractions are allowed. Default: 5.",
            format=Format.INTERVAL_MINUTES,
        ),
        ConfigField(
            "webhookUrl",
            "string",
            "Address that also receives each event as a signed JSON POST.",
            format=Format.URL,
        ),
    ),
    setup=SetupInstructions(
        title="Set up Odoo",
        steps=(
            (
                "In Odoo, create a user for Switchboard with read access to the models to watch, and with "
                "write access where answers are to be noted on the records. The external API is part of the "
                "Custom pricing plan of Odoo Online."
            ),
            (
                "Sign in as that user; under Preferences, Account Security, create a new API key. Give it as "
                "password."
            ),
            "Note the database name: it stands in the database selector, or before .odoo.com in the address.",
            "Note the technical names of the models (developer mode, Settings, Technical, Models).",
            "Create the instance here with the address, database, login, API key, models and events.",
        ),
        docs_url="https://www.odoo.com/documentation/18.0/developer/reference/external_api.html",
        webhook_required=False,
    ),
)
