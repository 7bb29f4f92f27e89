"""Runs email_code.feature; its steps stand in conftest.py."""

from pytest_bdd import scenarios

WORKER = False
scenarios("email_code.feature")
