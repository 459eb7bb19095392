"""A server that commands are told of by its address. Apart from the settings, because commands need it and pydantic loads slowly."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

SERVER = "EUNOE_CLIENT__SERVER"
TOKEN = "EUNOE_CLIENT__TOKEN"  # noqa: S105 - the name of a variable
TLS = "https://"


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """A gRPC door, with TLS or without, and the token for it; no token where the door asks for none."""

    address: str
    token: str = field(repr=False)
    tls: bool


def remote_server(given: str = "") -> RemoteServer | None:
    """The server of the option, else of the settings, else None. Settings are loaded only where a `.env` file may name them.

    Raises `ConfigurationError` for an address that is none.
    """
    address, token = given or _variable(SERVER), _variable(TOKEN)
    if Path(".env").exists() and not (address and token):
        from eunoe_standalone.settings import ClientSettings
        from eunoe_standalone.settings_catalogue import load

        settings = load(ClientSettings)
        address, token = address or settings.server, token or settings.token.get_secret_value()
    return _parsed(address, token, setting="--server" if given else SERVER) if address else None


def _parsed(text: str, token: str, *, setting: str) -> RemoteServer:
    from eunoe_process.listening import Address

    address = text.removeprefix(TLS)
    Address.parse(address, setting=setting)
    return RemoteServer(address, token, tls=address != text)


def _variable(name: str) -> str:
    return next((value for variable, value in os.environ.items() if variable.upper() == name and value), "")
