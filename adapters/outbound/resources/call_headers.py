"""The headers of calls to resources and their tools."""

from collections.abc import Mapping

from adapters import trace_context


def call_headers(token: str | None, headers: Mapping[str, str] = {}) -> dict[str, str]:
    """These headers, those of the trace, and the token as a Bearer token where there is one."""
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    return {**headers, **trace_context.headers(), **bearer}
