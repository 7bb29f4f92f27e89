"""The outbound address policy, as a function of an address."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.net.addresses import AddressPolicy, numeric_host

OPEN = AddressPolicy("open")
PUBLIC = AddressPolicy("public-only")

v4 = st.ip_addresses(v=4)
v6 = st.ip_addresses(v=6)


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "::169.254.169.254",
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1::a9fe:a9fe",
        "2001:0:808:808::5601:5601",
        "2001:0:a9fe:a9fe::f7f7:f7f7",
        "fe80::1",
        "fe80::1%eth0",
        "febf::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "100.100.100.200",
        "168.63.129.16",
    ],
)
def test_metadata_addresses_are_refused_whatever_is_allowed(address: str) -> None:
    everything = AddressPolicy.parse("public-only", ["0.0.0.0/0", "::/0"])

    assert not OPEN.allows(address)
    assert not PUBLIC.allows(address)
    assert not everything.allows(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.7",
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2001:0:0:0:0:0:80ff:fffe",
        "2001:db8::1",
        "3fff::1",
        "fc00::1",
        "fd12:3456::1",
        "fec0::1",
        "ff02::1",
        "4000::1",
    ],
)
def test_public_only_refuses_what_is_not_public(address: str) -> None:
    assert not PUBLIC.allows(address)
    assert OPEN.allows(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "172.15.255.255",
        "172.32.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
    ],
)
def test_public_only_allows_public_addresses(address: str) -> None:
    assert PUBLIC.allows(address)


@pytest.mark.parametrize("text", ["", "example.org", "localhost", "1.2.3", "127.1", "10.0.0.0/8", "01.2.3.4"])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert not OPEN.allows(text)


def test_allowed_networks_are_allowed_in_every_form_of_the_address() -> None:
    policy = AddressPolicy.parse("public-only", [" 10.1.0.0/16", "", "fd12::/16"])

    assert policy.allows("10.1.2.3")
    assert policy.allows("::ffff:10.1.2.3")
    assert policy.allows("64:ff9b::a01:203")
    assert policy.allows("fd12::5")
    assert not policy.allows("10.2.0.1")


@pytest.mark.parametrize("network", ["10.0.0.1/8", "ten", "10.0.0.0/33"])
def test_a_bad_network_is_named(network: str) -> None:
    with pytest.raises(ValueError, match="OUTBOUND_ALLOW"):
        AddressPolicy.parse("open", [network])


def test_a_bad_mode_is_named() -> None:
    with pytest.raises(ValueError, match="OUTBOUND_POLICY"):
        AddressPolicy.parse("closed")


@given(v4 | v6)
def test_what_public_only_allows_the_standard_library_calls_global(ip: IPv4Address | IPv6Address) -> None:
    if not PUBLIC.allows(ip):
        return
    inner = ip
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or ip
    assert inner.is_global
    assert not inner.is_multicast


@given(v4)
def test_an_ipv4_address_is_judged_alike_however_it_is_embedded(ip: IPv4Address) -> None:
    number = int(ip)
    mapped = IPv6Address((0xFFFF << 32) | number)
    nat64 = IPv6Address((0x64FF9B << 96) | number)
    sixtofour = IPv6Address((0x2002 << 112) | (number << 80))

    for policy in (OPEN, PUBLIC):
        assert {policy.allows(form) for form in (mapped, nat64, sixtofour)} == {policy.allows(ip)}


@given(v4, st.integers(1, 4), st.data())
def test_every_notation_of_a_numeric_host_is_read(ip: IPv4Address, count: int, data: st.DataObject) -> None:
    octets = ip.packed
    numbers = [*octets[: count - 1], int.from_bytes(octets[count - 1 :])]
    notations = [data.draw(st.sampled_from([str, hex, lambda n: f"0{n:o}"])) for _ in numbers]
    host = ".".join(write(number) for write, number in zip(notations, numbers, strict=True))

    assert numeric_host(host) == ip


@given(st.text(max_size=20))
def test_any_text_as_a_host_is_either_a_number_or_none(text: str) -> None:
    found = numeric_host(text)
    assert found is None or ip_address(str(found)) == found


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        "1.2.3.4.5",
        "256.1.1.1",
        "1.2.3.256",
        "0xg",
        "09",
        "-1",
        "1..2",
        "4294967296",
        "\u0661\u0662\u0667.0.0.1",
    ],
)
def test_a_name_is_no_numeric_host(host: str) -> None:
    assert numeric_host(host) is None
