"""How a session is ended from anywhere in the plugin."""

import pytest


def stop(config: pytest.Config, why: str) -> None:
    """End the session after the case that is being asked, in all processes if xdist runs here."""
    manager = config.pluginmanager
    session = manager.get_plugin("dsession") or manager.get_plugin("session")
    session.shouldstop = why
