"""What the contract suite needs to know of the web chat."""

from adapters.outbound.channels.tests.sample import Opening, Sample
from domain.channels.messages import Attachment

SECRET = "a secret that the site's backend knows"
VISITOR = "v-" + "x" * 22
CONFIG = {
    "allowedOrigins": "https://www.example.com, http://localhost:8080/",
    "title": "Help",
    "greeting": "How can we help?",
    "colour": "#0b5fff",
    "identitySecret": SECRET,
}
TARGET = {"instance": 7, "session": VISITOR}


def text_of(nodes: object) -> str:
    """What a person reads of a tree of nodes, a line for each block."""
    if not isinstance(nodes, list):
        return str(nodes)
    if nodes and isinstance(nodes[0], str) and len(nodes) > 1 and isinstance(nodes[1], dict):
        return "".join(map(text_of, nodes[2:])) + ("" if nodes[0] in ("strong", "em", "a") else "\n")
    return "".join(map(text_of, nodes))


SAMPLE = Sample(
    fields=(
        "allowedOrigins string, title string, greeting string, colour string, identitySecret string,"
        " identifyUsers boolean, accessMode string, mergeSeconds number, transcribe boolean"
    ),
    config=CONFIG,
    target=TARGET,
    shown=lambda message: text_of(message.payload["content"]),
    over_http=False,
    account_by_target=True,
    typing_shown_seconds=5.0,
    attachment=Attachment("plan.pdf", "application/pdf", {"blob": "0" * 64}, 3),
    openings=[Opening(VISITOR, VISITOR), Opening("u-42", "u-42"), Opening("u-ann lee", "u-ann lee")],
    no_addresses=["42", "v-short", "u-", "ann@example.com"],
)
