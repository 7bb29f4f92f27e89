"""What is taken as an address is what can be called."""

import pytest

from adapters.outbound.channels.http_webhook.config import DEFINITION
from adapters.outbound.net.addresses import AddressPolicy, AllowedAddresses
from adapters.outbound.net.urls import checked_url
from adapters.outbound.system.event_pushes import SubscriptionAddresses
from domain.addresses import address_fault
from domain.instances.validation import faults_of
from domain.knowledge.sources.service import checked_address
from domain.refusals import Invalid
from ports.http import NoAddress

NEVER = [
    "http://xn--/",
    "http://xn--a/",
    "http://xn--zzzz-/",
    "http://xn--a-ecp.example/",
    "http://" + "a" * 64 + ".example/",
    "http://" + "a" * 1980 + "/",
    "http://" + ".".join(["a" * 60] * 5) + "/",
    "http://" + "\u00e9" * 70 + ".example/",
    "http://a..example/",
    "http://.example/",
    "http://\u3002/",
    "http://\u00ad/",
    "http://a\\b.example/",
    "http://a.example:0/",
    "http://a.example:99999/",
    "http://[::1/",
    "http://[::1%25" + "a" * 1900 + "]/",
    "http://[12345::]/",
    "http:///path",
    "http://a.example/../b",
    "http://a.example/%2e/b",
    "http://a.example/a b",
    "http://a.example/" + "x" * 40_000,
    "ftp://a.example/",
    "a.example",
]
CALLABLE = [
    "http://a.example/",
    "https://a.example:8443/hook?token=1#part",
    "https://a.example/" + "x" * 1970,
    "http://a.example./",
    "http://a_b.example/",
    "http://1.2.3.4/",
    "http://[2606:4700::1]:8080/",
    "http://stra\u00dfe.example/",
    "http://xn--strae-oqa.example/",
    "http://XN--STRAE-OQA.example/",
    "http://xn--wgv71a119e.jp/",
    "http://\u4f8b\u3048\u3002jp/",
    "http://\U0001f600.example/",
]


@pytest.mark.parametrize("address", NEVER)
async def test_an_address_that_cannot_be_called_is_refused_wherever_it_is_given(address: str) -> None:
    with pytest.raises(NoAddress) as called:
        checked_url(address)
    given = await SubscriptionAddresses(AllowedAddresses(AddressPolicy()), ()).fault(address)
    assert given == str(called.value) or len(address) > 2000
    assert address_fault(address)
    assert faults_of(DEFINITION, None, {"responseWebhookUrl": address}, None)
    with pytest.raises(Invalid):
        checked_address(address)


@pytest.mark.parametrize("address", CALLABLE)
def test_an_address_that_can_be_called_is_taken(address: str) -> None:
    assert checked_url(address)
    assert address_fault(address) is None
