"""Process entry. The stores and the log of this version live inside one process, so the gateway does not run alone yet."""

from __future__ import annotations

import sys

from eunoe_contracts.errors import ConfigurationError

USAGE = 2


def main() -> int:
    """Say how to run the gateway, and end with the exit code of a usage error."""
    refusal = ConfigurationError(
        "the stores and the log of this version are embedded and belong to one process; run `eunoe serve`, which includes the gateway"
    )
    sys.stderr.write(f"eunoe-gateway: {refusal.message}\n")
    return USAGE


if __name__ == "__main__":
    sys.exit(main())
