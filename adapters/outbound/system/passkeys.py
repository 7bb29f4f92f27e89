"""Passkeys by the library `webauthn` (https://www.w3.org/TR/webauthn-3/)."""

import hashlib
import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from domain.access.model import Passkey
from ports.sign_in import NewPasskey, SignInFailed

WRONG = "The passkey could not be proved. Try again, or sign in another way."
LONGEST_ID = 1024
UNREADABLE = (ValueError, TypeError, LookupError, RecursionError)
"""What the library raises, besides its own errors, for bodies that are no answer of a passkey."""


class WebAuthn:
    """`ports.sign_in.Authenticator`. Passkeys are those of the host of AGENT_URL; each has to verify its person, by
    PIN, finger or face. The library is loaded when it is needed: a gateway of its own never needs it."""

    def __init__(self, agent_url: str) -> None:
        address = urlsplit(agent_url)
        self._origin = f"{address.scheme}://{address.netloc}"
        self._host = address.hostname or ""

    def registration(self, user_id: str, known: Sequence[bytes]) -> tuple[bytes, str]:
        from webauthn import generate_registration_options, options_to_json
        from webauthn.helpers import structs

        options = generate_registration_options(
            rp_id=self._host,
            rp_name="Switchboard",
            user_name=user_id,
            user_id=hashlib.sha256(user_id.encode()).digest(),
            authenticator_selection=structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement.REQUIRED,
                user_verification=structs.UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=passkey) for passkey in known],
        )
        return options.challenge, options_to_json(options)

    def registered(self, credential: str, challenge: bytes) -> NewPasskey:
        from webauthn import verify_registration_response
        from webauthn.helpers.exceptions import WebAuthnException

        try:
            made = verify_registration_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self._host,
                expected_origin=self._origin,
                require_user_verification=True,
            )
        except (WebAuthnException, *UNREADABLE) as error:
            raise SignInFailed(WRONG) from error
        return NewPasskey("", made.credential_id, made.credential_public_key, made.sign_count)

    def proof(self, known: Sequence[bytes]) -> tuple[bytes, str]:
        from webauthn import generate_authentication_options, options_to_json
        from webauthn.helpers import structs

        options = generate_authentication_options(
            rp_id=self._host,
            allow_credentials=[structs.PublicKeyCredentialDescriptor(id=passkey) for passkey in known]
            or None,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        )
        return options.challenge, options_to_json(options)

    def credential_id(self, credential: str) -> bytes:
        from webauthn.helpers import base64url_to_bytes

        try:
            id = base64url_to_bytes(json.loads(credential)["rawId"])
        except UNREADABLE:
            raise SignInFailed(WRONG) from None
        return id[:LONGEST_ID]

    def proved(self, credential: str, challenge: bytes, passkey: Passkey) -> int:
        from webauthn import verify_authentication_response
        from webauthn.helpers.exceptions import WebAuthnException

        try:
            proof = verify_authentication_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self._host,
                expected_origin=self._origin,
                credential_public_key=passkey.public_key,
                credential_current_sign_count=passkey.sign_count,
                require_user_verification=True,
            )
        except (WebAuthnException, *UNREADABLE) as error:
            raise SignInFailed(WRONG) from error
        return proof.new_sign_count
