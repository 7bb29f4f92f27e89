"""What the doctor finds out about certificates, their keys, and the way to the core."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from stat import S_IROTH

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from adapters.outbound.core_client.cores import Target, address_of, parse_targets
from adapters.outbound.net.tls import WARN_BEFORE, BadCertificate, PemSetting, TlsFiles, certificates, probe
from apps.settings import Settings
from apps.tls import USE_TLS, core_files, gateway_files, is_loopback, tls_to_core, trusted_file
from domain.monitoring.model import Finding, Grade


def of_tls(settings: Settings) -> Iterator[Finding]:
    """The files of the core and of a gateway, and whether the cores of CORE_TARGET answer."""
    yield from _of_files(TlsFiles(ca=trusted_file(settings)))
    core = core_files(settings)
    yield from _of_files(core)
    if core:
        yield from _uncovered(settings, core)
    elif not is_loopback(settings.grpc_host):
        yield Finding(Grade.NOTE, "GRPC_HOST", f"is {settings.grpc_host}, without TLS: {USE_TLS}")
    of_gateway = [*_of_files(gateway_files(settings))]
    yield from of_gateway
    if settings.core_target and not any(finding.grade is Grade.FAIL for finding in of_gateway):
        for target in parse_targets(settings.core_target):
            yield _of_core(settings, target)


def _of_files(files: TlsFiles | None) -> Iterator[Finding]:
    if files is None:
        return
    now = datetime.now(UTC)
    try:
        valid = files.check(files.read(), now)
    except BadCertificate as error:
        yield Finding(Grade.FAIL, "certificates", str(error))
        return
    for name, valid_until in valid.items():
        soon = valid_until - now < WARN_BEFORE
        text = f"{name} is valid until {valid_until:%Y-%m-%d %H:%M} UTC{'; renew it' if soon else ''}"
        yield Finding(Grade.NOTE if soon else Grade.OK, "certificates", text)
    yield from _of_key(files.key)
    yield from _of_chain(files.certificate)


def _of_key(key: PemSetting | None) -> Iterator[Finding]:
    if key and key.path.stat().st_mode & S_IROTH:
        text = f"{key.name}: everybody on this machine can read {key.path}; run: chmod 640 {key.path}"
        yield Finding(Grade.NOTE, "certificates", text)


def _of_chain(file: PemSetting | None) -> Iterator[Finding]:
    chain = certificates(file, file.read()) if file else []
    for link, issuer in pairwise(chain):
        try:
            link.verify_directly_issued_by(issuer)
        except (ValueError, TypeError, InvalidSignature):
            assert file is not None
            text = f"{file.name}: in {file.path} each certificate must be followed by the one that signed it"
            yield Finding(Grade.NOTE, "certificates", text)
            return


def _uncovered(settings: Settings, core: TlsFiles) -> Iterator[Finding]:
    """Hosts of CORE_TARGET that the certificate of this core does not name."""
    names = _names(core.certificate) if core.certificate else []
    targets = [target for target in parse_targets(settings.core_target) if not target.path]
    hosts = [settings.core_tls_server_name] if settings.core_tls_server_name else [t.host for t in targets]
    for host in hosts if targets else []:
        if not any(_covers(name, host) for name in names):
            text = (
                f"GRPC_TLS_CERT_FILE names {', '.join(names) or 'no host'}, and not {host}, which gateways expect;"
                " make one that does, or set CORE_TLS_SERVER_NAME"
            )
            yield Finding(Grade.NOTE, "certificates", text)


def _names(certificate: PemSetting) -> Sequence[str]:
    try:
        leaf = certificates(certificate, certificate.read())[0]
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (BadCertificate, x509.ExtensionNotFound):
        return []
    return [str(name.value) for name in names]


def _covers(name: str, host: str) -> bool:
    """A wildcard stands for one label."""
    name, host = name.lower(), host.lower()
    return name == host or (name.startswith("*.") and host.partition(".")[2] == name[2:])


def _of_core(settings: Settings, target: Target) -> Finding:
    if target.path:
        return Finding(Grade.OK, "core", f"{target} is a socket of this machine, without TLS")
    tls = tls_to_core(settings)
    result = asyncio.run(
        probe(target.host, target.port, tls.files if tls else None, tls.server_name if tls else "")
    )
    where = address_of(target.host, target.port)
    if result.fault:
        return Finding(Grade.FAIL, "core", f"CORE_TARGET {where}: {result.fault}")
    until = f" over TLS, with a certificate until {result.valid_until:%Y-%m-%d}" if result.valid_until else ""
    return Finding(Grade.OK, "core", f"CORE_TARGET {where} answers{until}")
