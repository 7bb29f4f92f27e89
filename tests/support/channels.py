"""What a channel is built with in tests, for all tests of the project."""

from adapters.outbound.channels.tests.support import NOW as NOW
from adapters.outbound.channels.tests.support import Files as Files
from adapters.outbound.channels.tests.support import SetClock as SetClock
from adapters.outbound.channels.tests.support import call as call
from adapters.outbound.channels.tests.support import client as client
from adapters.outbound.channels.tests.support import dependencies as dependencies
