"""Write the secrets that docker-compose.yml asks for into `.env`: random ones, each once; what stands there already stays.

Needs nothing but Python, so that it runs on a machine that has only containers.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPOSE = ROOT / "docker-compose.yml"
ASKED_FOR = re.compile(r"\$\{(\w+):\?")
GIVEN = re.compile(r"^\s*(?:export\s+)?(\w+)\s*=", re.MULTILINE)
BYTES = 24


def missing(compose: str, dotenv: str) -> list[str]:
    """Names of the required variables that `.env` does not set."""
    given = set(GIVEN.findall(dotenv))
    return [each for each in dict.fromkeys(ASKED_FOR.findall(compose)) if each not in given]


def with_secrets(dotenv: str, names: list[str]) -> str:
    """The text of `.env` with a fresh secret for each name at its end. Letters and digits: no server's syntax trips over them."""
    before = dotenv if not dotenv or dotenv.endswith("\n") else f"{dotenv}\n"
    return before + "".join(f"{name}={secrets.token_hex(BYTES)}\n" for name in names)


def main(arguments: list[str]) -> int:
    """`.env` beside docker-compose.yml, or the file that is named. Only its owner may read it."""
    path = Path(arguments[0]) if arguments else ROOT / ".env"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    names = missing(COMPOSE.read_text(encoding="utf-8"), text)
    if not names:
        print(f"{path} has all secrets already; nothing was changed")
        return 0
    new = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(with_secrets(text, names))
    new.replace(path)
    print(f"{path}: {len(names)} secrets written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
