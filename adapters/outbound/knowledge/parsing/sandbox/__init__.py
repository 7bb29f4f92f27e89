"""The sandbox: a fork server that gives each file a limited child process. See docs/adr/0009."""
