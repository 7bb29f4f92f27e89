"""The one column of navigation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """A page in the navigation; `icon` names a shape of parts.html. `admin`: shown to admins alone."""

    title: str
    path: str
    icon: str
    admin: bool = False

    def is_here(self, path: str) -> bool:
        """Whether `path` is this page or one below it."""
        return path == self.path or (self.path != "/console" and path.startswith(f"{self.path}/"))


SECTIONS: tuple[tuple[str, tuple[Item, ...]], ...] = (
    (
        "Messages",
        (
            Item("Overview", "/console", "overview"),
            Item("Inbox", "/console/inbox", "inbox"),
            Item("Problems", "/console/problems", "problems"),
        ),
    ),
    (
        "Bots",
        (
            Item("Channels", "/console/channels", "channels"),
            Item("Try it", "/console/try", "try"),
            Item("Knowledge", "/console/knowledge", "knowledge"),
        ),
    ),
    (
        "Settings",
        (
            Item("My identities", "/console/identities", "identities"),
            Item("API keys", "/console/keys", "keys"),
            Item("Event subscriptions", "/console/subscriptions", "subscriptions"),
            Item("Schedules", "/console/schedules", "schedules"),
            Item("Resources", "/console/resources", "resources"),
            Item("Doctor", "/console/doctor", "doctor", admin=True),
        ),
    ),
)
