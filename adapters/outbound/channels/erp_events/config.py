"""Configuration, targets and set-up of erp-events (Odoo)."""

from dataclasses import dataclass, field
from typing import Any

from adapters.outbound.channels.common.config import credential, required, steps
from domain.channels.model import ChannelDefinition, Format, SetupInstructions
from domain.channels.typed import ChannelConfig, ChannelTarget, ConfigModel, JsonModel, setting, stored_as
from domain.values import value


@dataclass(frozen=True, slots=True, kw_only=True)
class OdooConfig(ChannelConfig):
    erp_url: str = required(
        "Address of the Odoo server, for example https://example.odoo.com.", format=Format.BASE_URL
    )
    database: str = required("Name of the Odoo database.")
    username: str = required("Login of the Odoo user.")
    password: str = credential("Password of the user or, better, an API key of the user.")
    models: str = required(
        "Comma-separated technical names of the models to watch, for example sale.order,res.partner.",
        format=Format.CSV,
    )
    events: str = required(
        "Comma-separated kinds of event to report: create, write, unlink.", format=Format.EVENTS_CSV
    )
    check_interval: float | None = setting(
        "Minutes between two checks; fractions are allowed. Default: 5.", format=Format.INTERVAL_MINUTES
    )
    webhook_url: str = setting(
        "Address that also receives each event as a signed JSON POST.", format=Format.URL
    )

    @property
    def model_names(self) -> list[str]:
        return _entries(self.models)

    @property
    def event_names(self) -> frozenset[str]:
        return frozenset(_entries(self.events.lower()))


@value
class RecordTarget(ChannelTarget):
    """The record of an event, as it was then; `key` is the key of the event."""

    model: str = ""
    record_id: int = stored_as("recordId", 0)
    event: str = ""
    key: str = ""
    record: dict[str, Any] = field(default_factory=dict)


def session_of(model: str, record_id: int) -> str:
    return f"{model}:{record_id}"


def _entries(text: str) -> list[str]:
    """The entries of a comma-separated field, each once."""
    return list(dict.fromkeys(filter(None, (entry.strip() for entry in text.split(",")))))


CONFIG = ConfigModel(OdooConfig)
TARGET = JsonModel(RecordTarget)

DEFINITION = ChannelDefinition(
    id="erp-events",
    name="Odoo",
    description="Watches records of an Odoo database, tells the resource of every created, changed or "
    "deleted record, and writes the answer as a note on the record.",
    fields=CONFIG.fields,
    setup=SetupInstructions(
        title="Set up Odoo",
        steps=steps("""
            - In Odoo, create a user for Switchboard with read access to the models to watch, and with write
              access where answers are to be noted on the records. The external API is part of the Custom
              pricing plan of Odoo Online.
            - Sign in as that user; under Preferences, Account Security, create a new API key. Give it as
              password.
            - Note the database name: it stands in the database selector, or before .odoo.com in the address.
            - Note the technical names of the models (developer mode, Settings, Technical, Models).
            - Create the instance here with the address, database, login, API key, models and events.
        """),
        docs_url="https://www.odoo.com/documentation/18.0/developer/reference/external_api.html",
        webhook_required=False,
    ),
)
