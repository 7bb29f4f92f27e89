"""Examples of messages that are sent."""

from typing import Any

SEND: dict[str, Any] = {
    "conversation": {
        "summary": "To a known conversation",
        "value": {"sessionId": "C0123456789", "text": "Your order **4711** is ready."},
    },
    "address": {
        "summary": "To an address, with a file and choices",
        "value": {
            "to": "C0123456789",
            "text": "Here is the report. Shall I order the spare part?",
            "files": [
                {
                    "name": "report.pdf",
                    "mimeType": "application/pdf",
                    "url": "https://files.example.com/report.pdf",
                },
                {"name": "note.txt", "mimeType": "text/plain", "dataBase64": "SGVsbG8="},
            ],
            "choices": [{"label": "Yes", "value": "order"}, {"label": "No", "value": "leave"}],
        },
    },
    "default": {"summary": "To the default channel", "value": {"text": "Good morning"}},
    "mail": {
        "summary": "As a mail",
        "value": {"to": "ann@example.com", "subject": "Your order", "text": "It is ready."},
    },
    "template": {
        "summary": "WhatsApp, after 24 hours without a message of the person",
        "value": {
            "to": "+4915112345678",
            "template": {"name": "order_ready", "language": "en_US", "parameters": ["4711"]},
        },
    },
}
