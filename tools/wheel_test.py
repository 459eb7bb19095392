"""Install the built wheel into an empty environment outside the repository and run the demo there."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Entry point."""
    wheel = max((ROOT / "dist").glob("eunoe-*.whl"), key=lambda each: each.stat().st_mtime)
    with tempfile.TemporaryDirectory(prefix="eunoe-wheel-") as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=False)
        python = home / "venv" / "bin" / "python"
        uv = Path(sys.executable).parent / "uv"
        constraints = home / "constraints.txt"
        pinned = (ROOT / "requirements.lock").read_text(encoding="utf-8")
        constraints.write_text("\n".join(line.split(" \\")[0] for line in pinned.splitlines() if line[:1].isalnum()), encoding="utf-8")
        subprocess.run(
            [str(uv), "pip", "install", "--quiet", "--python", str(python), "-c", str(constraints), str(wheel)], check=True, cwd=home
        )
        command = home / "venv" / "bin" / "eunoe"
        environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
        subprocess.run([str(command), "--version"], check=True, cwd=home, env=environment)
        done = subprocess.run(
            [str(command), "demo", "--data-dir", str(home / "data")],
            check=True,
            cwd=home,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
        )
        print(done.stdout)
        if done.stdout.count("  -- ") != 3:  # noqa: PLR2004 - the demo asks three questions
            print("the demo did not answer its three questions")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
