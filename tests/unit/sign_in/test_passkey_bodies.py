"""Whatever a browser says of a passkey, it is proved or refused: no body makes anything else of it."""

import hashlib
import json
import struct
from base64 import urlsafe_b64encode
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from adapters.outbound.channels.tests.support import NOW
from adapters.outbound.system.passkeys import WebAuthn
from domain.access.model import Passkey
from ports.sign_in import SignInFailed

HOST, ORIGIN = "bots.example", "https://bots.example"
CHALLENGE, PASSKEY_ID = b"c" * 32, b"passkey-1"
PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
DEEP = 200_000
KEY = ec.generate_private_key(ec.SECP256R1())


def text_of(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def cose_key(**other: Any) -> bytes:
    numbers = KEY.public_key().public_numbers()
    fields = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
    return cbor2.dumps(
        fields | {int(name.strip("_").replace("m", "-")): value for name, value in other.items()}
    )


def authenticator_data(
    host: str = HOST, flags: int = PRESENT | VERIFIED, count: int = 1, more: bytes = b""
) -> bytes:
    return hashlib.sha256(host.encode()).digest() + struct.pack(">BI", flags, count) + more


def attested(key: bytes, id_length: int = len(PASSKEY_ID)) -> bytes:
    flags = PRESENT | VERIFIED | ATTESTED
    return authenticator_data(flags=flags, more=bytes(16) + struct.pack(">H", id_length) + PASSKEY_ID + key)


def client_data(kind: str, challenge: bytes = CHALLENGE, origin: str = ORIGIN) -> bytes:
    return json.dumps({"type": kind, "challenge": text_of(challenge), "origin": origin}).encode()


def credential(**response: bytes) -> dict[str, Any]:
    texts = {name: text_of(content) for name, content in response.items()}
    return {"id": text_of(PASSKEY_ID), "rawId": text_of(PASSKEY_ID), "type": "public-key", "response": texts}


def registration(attestation: bytes | None = None, client: bytes | None = None) -> dict[str, Any]:
    made = {"fmt": "none", "attStmt": {}, "authData": attested(cose_key())}
    return credential(
        attestationObject=cbor2.dumps(made) if attestation is None else attestation,
        clientDataJSON=client_data("webauthn.create") if client is None else client,
    )


def assertion(data: bytes | None = None, client: bytes | None = None) -> dict[str, Any]:
    data = authenticator_data(count=2) if data is None else data
    client = client_data("webauthn.get") if client is None else client
    signature = KEY.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
    return credential(authenticatorData=data, clientDataJSON=client, signature=signature)


def register(body: str) -> bytes:
    return WebAuthn(ORIGIN).registered(body, CHALLENGE).credential_id


def prove(body: str, public_key: bytes | None = None, count: int = 1) -> int:
    key = cose_key() if public_key is None else public_key
    return WebAuthn(ORIGIN).proved(
        body, CHALLENGE, Passkey(1, "ann", PASSKEY_ID, key, count, "Phone", NOW, None)
    )


def test_a_passkey_as_it_should_be_is_proved() -> None:
    assert register(json.dumps(registration())) == PASSKEY_ID
    assert prove(json.dumps(assertion())) == 2
    assert WebAuthn(ORIGIN).credential_id(json.dumps(assertion())) == PASSKEY_ID


NO_BODIES = (
    "", "null", "[]", "1", '"x"', "{}", "{", "\x00", "\ud800", "[" * DEEP, '{"a":' * DEEP, "NaN", "9" * 5000,
    '{"rawId": null}', '{"rawId": 1}', '{"rawId": []}', '{"rawId": "\ud800"}', '{"rawId": "a"}', '{"rawId": "%%%%%"}',
)  # fmt: skip


@pytest.mark.parametrize("body", NO_BODIES, ids=range(len(NO_BODIES)))
def test_what_is_no_passkey_is_refused(body: str) -> None:
    for read in (register, prove):
        with pytest.raises(SignInFailed):
            read(body)


@pytest.mark.parametrize("body", NO_BODIES, ids=range(len(NO_BODIES)))
def test_what_names_no_passkey_finds_none(body: str) -> None:
    try:
        passkey_id = WebAuthn(ORIGIN).credential_id(body)
    except SignInFailed:
        return
    assert passkey_id != PASSKEY_ID


@pytest.mark.parametrize("value", [None, 1, True, [], {}, "", "=", "\x00", "\ud800", "é", "x" * 20_000])
def test_a_field_of_another_type_is_refused(value: object) -> None:
    for made, read in ((registration(), register), (assertion(), prove)):
        hostile = [{**made, name: value} for name in ("id", "rawId", "type", "response")]
        hostile += [{**made, "response": {**made["response"], name: value}} for name in made["response"]]
        for body in hostile:
            with pytest.raises(SignInFailed):
                read(json.dumps(body))


def test_fields_that_are_missing_are_refused() -> None:
    for made, read in ((registration(), register), (assertion(), prove)):
        for name in made:
            with pytest.raises(SignInFailed):
                read(json.dumps({field: value for field, value in made.items() if field != name}))


@pytest.mark.parametrize("client", [
    client_data("webauthn.create", origin="https://elsewhere.example"),
    client_data("webauthn.create", origin="http://bots.example"),
    client_data("webauthn.create", origin="https://bots.example.elsewhere.example"),
    client_data("webauthn.create", challenge=b"d" * 32),
    client_data("webauthn.create", challenge=b""),
    client_data("webauthn.get"),
    b"", b"[]", b"null", b"\xff\xfe", b"[" * DEEP, b'{"type": 1, "challenge": 2, "origin": 3}',
    b'{"type": "webauthn.create", "challenge": null, "origin": null}',
], ids=range(13))  # fmt: skip
def test_a_registration_of_another_site_or_sign_in_is_refused(client: bytes) -> None:
    with pytest.raises(SignInFailed):
        register(json.dumps(registration(client=client)))


def test_an_attestation_that_is_cut_off_is_refused() -> None:
    made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": attested(cose_key())})
    for length in range(len(made)):
        with pytest.raises(SignInFailed):
            register(json.dumps(registration(made[:length])))


@pytest.mark.parametrize("data", [
    b"", bytes(36), bytes(37), authenticator_data(),
    authenticator_data("elsewhere.example"),
    authenticator_data(flags=PRESENT | ATTESTED, more=attested(cose_key())[37:]),
    attested(cose_key())[:60], attested(cose_key(), id_length=65_535), attested(b""), attested(b"\xff"),
    attested(cose_key(_1=99)), attested(cose_key(_3=-65_535)), attested(cose_key(m2=b"")), attested(cose_key(m2=1)),
    attested(cbor2.dumps([])), attested(cbor2.dumps({})), attested(b"\xbf" * 5000), attested(b"\x81" * DEEP),
    attested(cbor2.dumps({1: 3, 3: -257, -1: b"", -2: b""})),
], ids=range(19))  # fmt: skip
def test_a_key_that_is_none_is_refused(data: bytes) -> None:
    """What cannot be read is refused at once; a key that nothing can be signed with, when it is used."""
    made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
    try:
        passkey = WebAuthn(ORIGIN).registered(json.dumps(registration(made)), CHALLENGE)
    except SignInFailed:
        return
    with pytest.raises(SignInFailed):
        prove(json.dumps(assertion()), passkey.public_key)


@pytest.mark.parametrize("attestation", [
    b"", b"\x00", cbor2.dumps([]), cbor2.dumps("x"), cbor2.dumps({}), cbor2.dumps({"fmt": "none"}),
    cbor2.dumps({"fmt": "none", "attStmt": {"sig": b"x"}, "authData": attested(cose_key())}),
    cbor2.dumps({"fmt": "unknown", "attStmt": {}, "authData": attested(cose_key())}),
    cbor2.dumps({"fmt": ["none"], "attStmt": [], "authData": attested(cose_key())}),
    cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": "text"}),
    cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": 7}),
    *(cbor2.dumps({"fmt": fmt, "attStmt": {}, "authData": attested(cose_key())}) for fmt in (
        "packed", "tpm", "android-key", "android-safetynet", "fido-u2f", "apple",
    )),
    *(cbor2.dumps({"fmt": fmt, "attStmt": {"x5c": [b"x"], "sig": b"x", "alg": -7, "ver": "2.0", "response": b"x"},
                   "authData": attested(cose_key())}) for fmt in (
        "packed", "tpm", "android-key", "android-safetynet", "fido-u2f", "apple",
    )),
    b"\x9b" + b"\xff" * 8, b"\x5b" + b"\xff" * 8, b"\xbb" + b"\xff" * 8, b"\x7b\x7f" + b"\xff" * 7,
    b"\x81" * DEEP, b"\xd8\x1c" * 5000, b"\xd8\x1d\x00", b"\xc4\x82\x1b" + b"\xff" * 8 + b"\x01",
    b"\xc2\x40", b"\xc0\x61x", b"\xc1\xfb\x7f\xf0" + bytes(6), b"\xd8\x23\x63(((", b"\xa1\x80\x00", b"\xa1\xa0\x00",
], ids=range(37))  # fmt: skip
def test_an_attestation_that_is_none_is_refused(attestation: bytes) -> None:
    with pytest.raises(SignInFailed):
        register(json.dumps(registration(attestation)))


@pytest.mark.parametrize("data", [
    b"", bytes(36), bytes(37), authenticator_data("elsewhere.example", count=2),
    authenticator_data(flags=PRESENT, count=2), authenticator_data(flags=VERIFIED, count=2),
    authenticator_data(count=1), authenticator_data(count=0),
    authenticator_data(flags=PRESENT | VERIFIED | ATTESTED, count=2),
    authenticator_data(flags=PRESENT | VERIFIED | 0x80, count=2, more=b"\xff" * 50),
], ids=range(10))  # fmt: skip
def test_a_proof_without_its_person_of_another_site_or_of_a_copy_is_refused(data: bytes) -> None:
    with pytest.raises(SignInFailed):
        prove(json.dumps(assertion(data)))


def test_a_proof_with_another_key_is_refused() -> None:
    made = assertion()
    signature = ec.generate_private_key(ec.SECP256R1()).sign(b"x", ec.ECDSA(hashes.SHA256()))
    for wrong in (signature, b"", b"\x30", bytes(64), b"\xff" * 5000):
        body = {**made, "response": {**made["response"], "signature": text_of(wrong)}}
        with pytest.raises(SignInFailed):
            prove(json.dumps(body))
