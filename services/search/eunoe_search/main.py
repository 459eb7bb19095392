"""Process entry. The stores of this version live inside one process, so search does not run alone yet."""

from __future__ import annotations

import sys

USAGE = 2


def main() -> int:
    """Say how to run search, and end with the exit code of a usage error."""
    sys.stderr.write(
        "eunoe-search: the stores of this version are embedded and belong to one process; run `eunoe serve`, which includes search.\n"
    )
    return USAGE


if __name__ == "__main__":
    sys.exit(main())
