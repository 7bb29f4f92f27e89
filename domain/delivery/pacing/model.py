"""Former names, for `domain.delivery.service` until it uses the new ones."""

from domain.delivery.rate_limits.model import SendRequest as Sending
from domain.delivery.rate_limits.model import send_request as sending_of

__all__ = ["Sending", "sending_of"]
