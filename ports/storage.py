"""Former names, for the services of routing and delivery until they use the new ones."""

from ports.inbox import CallResult as CallResult
from ports.inbox import Conversation as Conversation
from ports.inbox import Conversations as Conversations
from ports.inbox import DraftStore as DraftStore
from ports.inbox import EventOutcome as EventOutcome
from ports.inbox import QueuedEvent as QueuedEvent
from ports.instances import HealthRecorder as HealthStore
from ports.instances import InstanceLookup as InstanceStore
from ports.outbox import Outbox as Outbox
from ports.outbox import Prompts as Prompts
from ports.outbox import QueuedMessage as QueuedMessage
from ports.outbox import QueuedMessages as QueuedMessages
from ports.queue import QueueKey as QueueKey
from ports.sessions import Rounds as Rounds

__all__ = ["HealthStore", "InstanceStore"]
