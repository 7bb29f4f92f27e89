"""Runs messenger_contact.feature; its steps stand in conftest.py."""

from pytest_bdd import scenarios

WORKER = False
scenarios("messenger_contact.feature")
