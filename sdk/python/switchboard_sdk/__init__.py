"""Writes agents for Switchboard, and calls its REST interface."""

from switchboard_sdk._async_client import AsyncClient
from switchboard_sdk._client import Client
from switchboard_sdk.agent import Agent, TryLater
from switchboard_sdk.answers import (
    Answer,
    Button,
    Card,
    CardField,
    Choice,
    Confirmation,
    Contact,
    Field,
    File,
    Form,
    Location,
    Usage,
)
from switchboard_sdk.errors import ApiError, ConnectionFailed
from switchboard_sdk.events import Event
from switchboard_sdk.messages import Approval, FormValues, Message, MessageFile, Sender
from switchboard_sdk.webhooks import BadSignature, verify_push

__all__ = [
    "Agent",
    "Answer",
    "ApiError",
    "Approval",
    "AsyncClient",
    "BadSignature",
    "Button",
    "Card",
    "CardField",
    "Choice",
    "Client",
    "Confirmation",
    "ConnectionFailed",
    "Contact",
    "Event",
    "Field",
    "File",
    "Form",
    "FormValues",
    "Location",
    "Message",
    "MessageFile",
    "Sender",
    "TryLater",
    "Usage",
    "verify_push",
]
