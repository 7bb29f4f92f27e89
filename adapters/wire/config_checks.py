"""Checks of configurations to protobuf and back."""

from switchboard.channels.v1 import checks_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.instances.checks.model import ConfigDraft, CredentialsCheck
from domain.refusals import Fault

FAULT = Conversion(Fault, pb.FieldFault)
CREDENTIALS = Conversion(CredentialsCheck, pb.CheckCredentialsResponse)
DRAFT = Conversion(ConfigDraft, pb.ConfigDraft, downstream_resource_id="resource_id")
