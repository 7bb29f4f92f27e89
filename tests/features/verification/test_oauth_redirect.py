"""Runs oauth_redirect.feature; its steps stand in conftest.py."""

from __future__ import annotations

from pytest_bdd import scenarios

WORKER = False
scenarios("oauth_redirect.feature")
