"""Runs oauth_redirect.feature; its steps stand in conftest.py."""

from pytest_bdd import scenarios

WORKER = False
scenarios("oauth_redirect.feature")
