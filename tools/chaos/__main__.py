"""`python -m chaos [--seconds 300] [--seed N] [--broken]`: starts Kafka and PostgreSQL, makes trouble, prints the verdict."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from eunoe_stores.postgres.testing import fresh_schema, settings_of
from servers.all import SERVERS

from chaos.plan import Form
from chaos.run import run

LONG_S = 180


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="how long there is traffic and trouble")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100_000, help="of the trouble; default: the time")
    parser.add_argument("--broken", action="store_true", help="members commit before they work; the judge must notice")
    asked = parser.parse_args()
    long = Form(seconds=asked.seconds, seed=asked.seed, broken=asked.broken)
    form = long if asked.seconds >= LONG_S else Form.short(asked.seconds, asked.seed, broken=asked.broken)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="eunoe-chaos-", ignore_cleanup_errors=True)))
        folder.chmod(0o755)
        kafka, postgres = SERVERS["kafka"](folder / "kafka"), SERVERS["postgres"](folder / "postgres")
        for server in (kafka, postgres):
            stack.callback(server.stop)
            server.start()
        settings = stack.enter_context(fresh_schema(settings_of(postgres.settings())))
        members = folder / "members"
        members.mkdir()
        began = time.monotonic()

        def tell(text: str) -> None:
            print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)

        outcome = asyncio.run(run(form, kafka, settings, members, prefix="chaos.", tell=tell))
        for name, value in outcome.table.items():
            print(f"{name:38} {value}")
        for each in outcome.findings:
            print(f"WRONG: {each}")
        if outcome.findings:
            _tails(members)
    print("verdict: " + ("wrong" if outcome.findings else "nothing lost, every duplicate absorbed"))
    return int(bool(outcome.findings))


def _tails(folder: Path) -> None:
    for each in sorted(folder.glob("*.log")):
        lines = each.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        print(f"--- {each.name}", *lines, sep="\n")


if __name__ == "__main__":
    sys.exit(main())
