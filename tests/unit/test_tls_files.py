"""Files of certificates and keys: what is wrong with them is told by the name of the setting, and a pair that cannot
be used leaves the former in use."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from adapters.outbound.net.tls import BadCertificate, PemSetting, TlsFiles, WatchedFiles
from apps.findings import of_tls
from apps.settings_loading import load
from domain.monitoring.model import Grade
from tests.support.certificates import Issued, new_authority

AUTHORITY = new_authority()
OWN = AUTHORITY.issue("core.internal", "127.0.0.1")


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def files(tmp_path: Path) -> TlsFiles:
    return written(tmp_path, OWN)


def written(folder: Path, own: Issued, authorities: bytes = AUTHORITY.pem) -> TlsFiles:
    paths = own.write(folder / "tls", authorities)
    return TlsFiles(*(PemSetting(name.upper(), paths[name]) for name in ("certificate", "key", "ca")))


def test_all_is_read_and_the_end_of_each_is_known(files: TlsFiles) -> None:
    watched = WatchedFiles(files, now)
    assert watched.contents.certificate == OWN.pem
    assert watched.valid_until == {
        "CERTIFICATE": OWN.certificate.not_valid_after_utc,
        "CA": AUTHORITY.certificate.not_valid_after_utc,
    }


def encrypted() -> bytes:
    return OWN.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))


FAULTS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "no certificate": ("tls.crt", lambda: b"hello", "CERTIFICATE: .* holds no certificate in PEM form"),
    "no key": ("tls.key", lambda: b"hello", "KEY: .* holds no private key in PEM form"),
    "a locked key": (
        "tls.key",
        encrypted,
        "KEY: .* is encrypted; take the passphrase off with: openssl pkey",
    ),
    "another key": (
        "tls.key",
        lambda: AUTHORITY.key_pem,
        r"KEY: .* is not the key of the certificate in .*\(CERTIFICATE\)",
    ),
    "the wrong order": ("tls.crt", lambda: AUTHORITY.pem + OWN.pem, "CERTIFICATE: .* put that first"),
    "no CA": ("ca.crt", lambda: b"", "CA: .* holds no certificate in PEM form"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_names_the_setting_and_the_fix(files: TlsFiles, tmp_path: Path, fault: str) -> None:
    file, content, message = FAULTS[fault]
    (tmp_path / "tls" / file).write_bytes(content())
    with pytest.raises(BadCertificate, match=message):
        WatchedFiles(files, now)


@pytest.mark.parametrize(
    ("begins", "ends", "message"),
    [
        (-5, -1, "CERTIFICATE: the certificate in .* expired on .* UTC; renew it"),
        (1, 5, "CERTIFICATE: the certificate in .* is valid from .* on; check the clock"),
    ],
)
def test_a_certificate_that_is_not_valid_now_is_refused(
    tmp_path: Path, begins: float, ends: float, message: str
) -> None:
    with pytest.raises(BadCertificate, match=message):
        WatchedFiles(written(tmp_path, AUTHORITY.issue("x", begins=begins, ends=ends)), now)


def test_a_missing_file_is_named(files: TlsFiles, tmp_path: Path) -> None:
    (tmp_path / "tls/tls.key").unlink()
    with pytest.raises(BadCertificate, match=r"KEY: .*/tls\.key cannot be read: No such file"):
        WatchedFiles(files, now)


def test_new_files_are_used_once_they_fit(
    files: TlsFiles, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watched, renewed = WatchedFiles(files, now), AUTHORITY.issue("core.internal")
    assert not watched.look()

    (tmp_path / "tls/tls.crt").write_bytes(renewed.pem)  # the key comes later
    assert not watched.look()
    assert not watched.look()
    assert watched.contents.certificate == OWN.pem
    faults = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert len(faults) == 1, "told once"
    assert "The former certificate and key stay in use" in faults[0]
    assert "KEY" in (watched.fault or "")

    (tmp_path / "tls/tls.key").write_bytes(renewed.key_pem)
    assert watched.look()
    assert (watched.contents.certificate, watched.contents.key) == (renewed.pem, renewed.key_pem)
    assert watched.fault is None


def test_the_end_is_warned_of_once_a_day(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    clock = [now()]
    watched = WatchedFiles(written(tmp_path, AUTHORITY.issue("x", ends=30)), lambda: clock[0])
    watched.look()
    assert not caplog.records
    clock[0] += timedelta(days=17)
    watched.look()
    watched.look()
    assert [record.message.split(" on ")[0] for record in caplog.records] == ["CERTIFICATE expires"]
    clock[0] += timedelta(days=14)
    watched.look()
    assert [record.message.split(" on ")[0] for record in caplog.records][1:] == ["CERTIFICATE expired"]


def found(**given: object) -> list[tuple[Grade, str]]:
    settings = load({name.upper(): str(value) for name, value in given.items()}, env_file=None)
    return [(finding.grade, finding.text) for finding in of_tls(settings)]


def core_settings(paths: dict[str, Path]) -> dict[str, object]:
    return {"grpc_tls_cert_file": paths["certificate"], "grpc_tls_key_file": paths["key"]}


def test_the_doctor_tells_until_when_all_is_valid(tmp_path: Path) -> None:
    paths = OWN.write(tmp_path / "tls", AUTHORITY.pem)
    findings = found(**core_settings(paths), grpc_tls_client_ca_file=paths["ca"])
    assert [grade for grade, _ in findings] == [Grade.OK, Grade.OK]
    assert findings[0][1].startswith("GRPC_TLS_CERT_FILE is valid until")


def test_the_doctor_finds_what_is_wrong_or_will_be(tmp_path: Path) -> None:
    soon = AUTHORITY.issue("core.internal", "*.cores.internal", ends=5)
    paths = soon.write(tmp_path / "tls", AUTHORITY.pem)
    paths["key"].chmod(0o644)
    paths["certificate"].write_bytes(soon.pem + OWN.pem)
    given = core_settings(paths)
    texts = [text for grade, text in found(**given) if grade is Grade.NOTE]
    assert "GRPC_TLS_CERT_FILE is valid until" in texts[0]
    assert texts[0].endswith("; renew it")
    assert "run: chmod 640" in texts[1]
    assert "must be followed by the one that signed it" in texts[2]

    paths["key"].write_bytes(OWN.key_pem)
    [(grade, text)] = found(**given)
    assert grade is Grade.FAIL
    assert text.startswith("GRPC_TLS_CERT_FILE: ")
    assert "put that first" in text


def test_the_doctor_names_hosts_that_the_certificate_lacks(tmp_path: Path) -> None:
    paths = AUTHORITY.issue("127.0.0.1", "*.cores.internal").write(tmp_path / "tls", AUTHORITY.pem)
    given = core_settings(paths) | {"core_target": "127.0.0.2:1, 127.0.0.1:1"}
    lacking = [text for _, text in found(**given) if "gateways expect" in text]
    assert len(lacking) == 1
    assert "names 127.0.0.1, *.cores.internal, and not 127.0.0.2, which gateways expect" in lacking[0]
    assert not [
        t for _, t in found(**given, core_tls_server_name="a.cores.internal") if "gateways expect" in t
    ]
    assert [t for _, t in found(**given, core_tls_server_name="a.b.cores.internal") if "gateways expect" in t]


def test_the_doctor_notes_a_core_that_others_reach_in_plain_text() -> None:
    [(grade, text)] = found(grpc_host="0.0.0.0")
    assert grade is Grade.NOTE
    assert "plain text" in text
    assert not found(grpc_host="127.0.0.1")
    assert not found(grpc_host="::1")
