"""Process entry. The stores of this version live inside one process, so the extractor does not run alone yet."""

from __future__ import annotations

import sys

from eunoe_contracts.errors import ConfigurationError

USAGE = 2


def main() -> int:
    """Say how to run the extractor, and end with the exit code of a usage error."""
    refusal = ConfigurationError(
        "the stores and the log of this version are embedded and belong to one process; run `eunoe serve`, which includes it"
    )
    sys.stderr.write(f"eunoe-extractor: {refusal.message}\n")
    return USAGE


if __name__ == "__main__":
    sys.exit(main())
