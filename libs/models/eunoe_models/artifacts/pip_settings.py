"""What pip's own settings say, read without pip: environment, then its configuration files (pip documentation, "Configuration")."""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Mapping
from pathlib import Path

SECTIONS = ("global", "download", "install")
"""A later section overrides an earlier one for the commands that fetch."""


def pip_value(key: str, environment: Mapping[str, str]) -> str:
    """The value of a key such as `index-url` or `cert`; empty when nobody sets it."""
    if value := environment.get("PIP_" + key.upper().replace("-", "_"), ""):
        return value
    found = ""
    for path in _files(environment):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue  # pip itself complains about such a file; here it only says nothing
        for section in SECTIONS:
            for name in (key, key.replace("-", "_")):
                found = parser.get(section, name, fallback="") or found
    return found.strip()


def _files(environment: Mapping[str, str]) -> list[Path]:
    """In pip's order: a later file overrides an earlier one."""
    extra = environment.get("PIP_CONFIG_FILE", "")
    if extra == os.devnull:
        return []
    home = Path(environment.get("HOME") or Path.home())
    shared = [Path(folder) / "pip" / "pip.conf" for folder in reversed(environment.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")) if folder]
    own = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"
    legacy = [home / "Library" / "Application Support" / "pip" / "pip.conf"] if sys.platform == "darwin" else []
    files = [*shared, Path("/etc/pip.conf"), home / ".pip" / "pip.conf", *legacy, own, Path(sys.prefix) / "pip.conf"]
    return [*files, Path(extra)] if extra else files
