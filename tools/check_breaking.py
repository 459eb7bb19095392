"""Compare protos/ with the last release tag (or, before the first, with the main branch) and fail on a breaking change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(*words: str) -> str:
    """Output of a git command, empty when it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def baseline() -> str:
    """The revision to compare with: the newest release tag, else the last commit on main that changed protos/, else nothing."""
    return (
        git("describe", "--tags", "--abbrev=0", "--match", "v*")
        or git("rev-parse", "--verify", "--quiet", "origin/main")
        or git("rev-parse", "HEAD")
    )


def main() -> int:
    """Entry point."""
    revision = baseline()
    if not revision or not git("ls-tree", revision, "protos"):
        print("no earlier protos to compare with")
        return 0
    buf = Path(sys.executable).parent / "buf"
    against = f"{ROOT / '.git'}#ref={revision},subdir=protos"
    done = subprocess.run([str(buf), "breaking", "--against", against], cwd=ROOT / "protos", check=False)
    if done.returncode:
        print(f"protos/ breaks clients of {revision}: keep the old fields, or start a new package version")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
