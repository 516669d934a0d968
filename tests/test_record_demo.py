"""The recorder of the demonstration session, as a person first calls it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_help_records_nothing(tmp_path: Path) -> None:
    """`--help` prints help and writes no file, neither one of that name nor the packaged session."""
    demo = ROOT / "core/src/trimtab/replay/demo.jsonl"
    before = demo.stat()
    command = [sys.executable, "-m", "scripts.record_demo", "--help"]
    told = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith("usage: python -m scripts.record_demo")
    assert "demo.jsonl" in told.stdout
    assert list(tmp_path.iterdir()) == []
    assert demo.stat() == before
