"""The settings of what operators ask of processes without a REST gateway."""

from apps.setting_types import SettingsGroup, setting


class MetricsSettings(SettingsGroup):
    metrics_host: str = setting("127.0.0.1", "address that METRICS_PORT is opened on")
    metrics_port: int = setting(
        0,
        "port on which `switchboard core` and `worker` answer /metrics, /healthz and /readyz; 0: none. Gateways and"
        " `up` answer them on HTTP_PORT",
        low=0,
        high=65535,
    )
