"""Where the data is when nobody says otherwise. Apart from the settings, because commands need it and pydantic loads slowly."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "EUNOE_SERVER__DATA_DIR"


def default_data_dir() -> Path:
    """`$XDG_DATA_HOME/eunoe`, by default `~/.local/share/eunoe` (XDG Base Directory Specification)."""
    root = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(root) / "eunoe"


def configured_data_dir() -> Path:
    """The data directory in force. The settings are loaded only where a `.env` file may name it; raises `ConfigurationError` then."""
    given = next((value for name, value in os.environ.items() if name.upper() == VARIABLE and value), None)
    if given is not None:
        return Path(given)
    if not Path(".env").exists():
        return default_data_dir()
    from eunoe_standalone.settings import ServerSettings
    from eunoe_standalone.settings_catalogue import load

    return load(ServerSettings).data_dir
