"""What every benchmark prints first, and where it finds the recorded sessions."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["SESSIONS", "TIKTOKEN", "heading", "sessions"]

ROOT = Path(__file__).resolve().parents[2]
SESSIONS = ROOT.parent / "shared" / "corpus" / "claude-code"
TIKTOKEN = ROOT.parent / "shared" / "tiktoken"


def heading(*packages: str) -> str:
    """Date, machine, Python, and the versions of trimtab, of its plugin and of ``packages``."""
    model = platform.processor()
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.partition(":")[2].strip() for line in info if line.startswith("model name")), model)
    versions = (f"{name} {importlib.metadata.version(name)}" for name in ("trimtab", *packages))
    return (
        f"{datetime.date.today()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores ({model}), "
        f"Python {platform.python_version()}, {', '.join(versions)}"
    )


def sessions() -> Sequence[Path]:
    """The recorded sessions beside the repository; says so and ends the script where there are none."""
    found = sorted(SESSIONS.glob("*.jsonl"))
    if not found:
        sys.exit("The recorded sessions (../shared/corpus beside the repository) are not here: nothing is measured.")
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(TIKTOKEN))
    return found
