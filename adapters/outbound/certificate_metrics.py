"""Prometheus metrics of certificates: how long they are valid, and whether new files of them can be used."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from adapters.tls.watching import WatchedFiles


class CertificateMetrics(Collector):
    """Looked up when scraped. `others`: the ends of certificates that are no file here, by what they are of."""

    def __init__(
        self, files: WatchedFiles, others: Callable[[], Mapping[str, datetime]], registry: CollectorRegistry
    ) -> None:
        self._files = files
        self._others = others
        registry.register(self)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        expiry = GaugeMetricFamily(
            "switchboard_certificate_expiry_seconds",
            "Until a certificate expires, by its setting or the address of the core that has it",
            labels=["certificate"],
        )
        now = datetime.now(UTC)
        for name, valid_until in {**self._files.valid_until, **self._others()}.items():
            expiry.add_metric([name], (valid_until - now).total_seconds())
        yield expiry
        yield GaugeMetricFamily(
            "switchboard_certificate_faults",
            "1 while files of certificates cannot be used, and the former are",
            value=1.0 if self._files.fault else 0.0,
        )
