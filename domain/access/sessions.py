"""Opens sessions of browsers."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.access import model
from domain.access.devices import device_of
from domain.audit.model import Action, Result
from ports.access import KeyStore, NewCredential
from ports.audit import Audit
from ports.system import Clock, Ids

SESSION_LIFE = timedelta(days=7)
SESSION_IDLE = timedelta(hours=12)
"""A session that was not used for so long has ended."""


@dataclass(frozen=True, slots=True)
class Browser:
    """Where a person signs in. `address`: of the network. `user_agent`: how the browser names itself."""

    address: str = ""
    user_agent: str = ""


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session to be opened. `way`: with what the person signed in, for the audit log. `parent_id`: the key with
    which it ends. `is_proved`: by a passkey."""

    user_id: str
    role: model.Role
    way: str
    name: str = ""
    parent_id: int | None = None
    expires_at: datetime | None = None
    is_proved: bool = False


@dataclass(eq=False)
class SessionOpener:
    keys: KeyStore
    audit: Audit
    ids: Ids
    clock: Clock

    async def open(self, new: NewSession, browser: Browser) -> tuple[model.ApiKey, model.Session]:
        """The session as it is listed, and its token."""
        now = self.clock.now()
        expires_at = min(now + SESSION_LIFE, new.expires_at or now + SESSION_LIFE)
        token = model.SESSION_PREFIX + self.ids.token()
        credential = NewCredential(
            new.user_id,
            new.role,
            model.shown(token),
            model.digest(token),
            model.KeyKind.SESSION,
            new.name,
            expires_at,
            new.parent_id,
            address=browser.address,
            device=device_of(browser.user_agent),
            is_proved=new.is_proved,
        )
        person = model.Caller(new.user_id, new.role, address=browser.address)
        async with self.audit.change(person, Action.SESSION_OPENED, "session", {"with": new.way}) as details:
            session = await self.keys.add(credential, now)
            details["object"] = f"session:{session.id}"
        return session, model.Session(token, expires_at)

    async def note_refusal(self, browser: Browser, reason: str = "", user_id: str = "") -> None:
        """Adds a wrong sign-in to the audit log."""
        stranger = model.Caller(user_id, model.Role.RESPONDER, address=browser.address)
        data = {"reason": reason} if reason else {}
        await self.audit.note(stranger, Action.SESSION_REFUSED, "session", data, Result.REFUSED)
