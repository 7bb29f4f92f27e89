"""Certificates for tests, made on the spot."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

LOOPBACK = ("localhost", "127.0.0.1")


@dataclass(frozen=True)
class Issued:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def issue(self, *names: str, begins: float = -1, ends: float = 90) -> Issued:
        """A certificate for these hosts, from and until so many days from now."""
        return _issued(self, "test", names, begins, ends)

    def write(self, folder: Path, authorities: bytes) -> dict[str, Path]:
        """Files as Kubernetes mounts them, swapped in one step: tls.crt, tls.key and ca.crt."""
        folder.mkdir(exist_ok=True)
        number = len(list(folder.iterdir()))
        version = folder / f"..{number}"
        version.mkdir()
        (version / "tls.crt").write_bytes(self.pem)
        (version / "tls.key").write_bytes(self.key_pem)
        (version / "tls.key").chmod(0o600)
        (version / "ca.crt").write_bytes(authorities)
        link = folder / f"..link{number}"
        link.symlink_to(version.name)
        link.rename(folder / "..data")
        for name in ("tls.crt", "tls.key", "ca.crt"):
            if not (folder / name).is_symlink():
                (folder / name).symlink_to(f"..data/{name}")
        return {"certificate": folder / "tls.crt", "key": folder / "tls.key", "ca": folder / "ca.crt"}


def new_authority(name: str = "CA of tests") -> Issued:
    return _issued(None, name, (), -1, 90)


def _issued(issuer: Issued | None, name: str, hosts: tuple[str, ...], begins: float, ends: float) -> Issued:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=begins))
        .not_valid_after(now + timedelta(days=ends))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if hosts:
        names = [_general_name(host) for host in hosts]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Issued(builder.sign(issuer.key if issuer else key, hashes.SHA256()), key)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
