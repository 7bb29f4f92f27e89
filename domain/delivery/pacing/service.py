"""Former names, for `domain.delivery.service` until it uses the new ones."""

from domain.delivery.rate_limits.service import RateLimiter

__all__ = ["RateLimiter"]
