"""Record the demonstration session: ``python -m scripts.record_demo [OUT.jsonl]``, from the repository's root.

Real tools run over a scratch copy of this repository; the assistant's texts come from `story`; the clock is seeded
and no model is called. The same tree gives the same file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from scripts.record_demo.agent import Agent
from scripts.record_demo.recording import Recording
from scripts.record_demo.story import tell
from scripts.record_demo.tools import ROOT, Tools, copy

SEED = 20260302
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC).timestamp()
LIMIT = 350_000
"""Bytes of the file; it is part of the distribution."""


def main(out: Path) -> None:
    """Record into ``out``; stops when the machine shows through or the file is too big."""
    repository = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder, "tree"), Path(folder, "home")
        root.mkdir()
        home.mkdir()
        copy(repository, root)
        recording = Recording(SEED, START, ROOT)
        tell(Agent(recording, Tools(root, home)))
        recording.write(out)
    text = out.read_text(encoding="utf-8")
    size = len(text.encode())
    shown = [place for place in (folder, str(repository), str(Path.home()), sys.prefix) if place in text]
    if shown or size > LIMIT:
        raise SystemExit(f"{out}: {size} bytes (at most {LIMIT}); places of this machine in it: {shown}")
    print(f"{out}: {len(recording.lines)} lines, {size} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m scripts.record_demo", description="Record the demo session.")
    parser.add_argument(
        "out", nargs="?", type=Path, default=Path("core/src/trimtab/replay/demo.jsonl"), help="default: %(default)s"
    )
    main(parser.parse_args().out)
