"""What a message of a channel counts against."""

import logging

from domain.channels.messages import Target
from domain.delivery.rate_limits.model import SendRequest, send_request
from domain.instances.model import Instance
from ports.channels import AnyChannel

log = logging.getLogger(__name__)


def request_for(
    instance: Instance, channel: AnyChannel, queue_key: str, target: Target, *, edit: bool = False
) -> SendRequest:
    """A channel that cannot tell its limits is taken for one without limits. `edit`: a message is changed."""
    limits = None
    if channel.limits:
        try:
            limits = channel.limits.limits(channel.config.load(instance.config), channel.target.load(target))
        except Exception:
            log.exception("a channel could not tell its limits", extra={"instance": instance.id})
    return send_request(instance.id, instance.channel_id, queue_key, limits, edit=edit)
