"""What every benchmark prints first, and where it finds what lies beside the repository."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["RANKS", "SESSIONS", "heading", "sessions"]

SHARED = Path(__file__).resolve().parents[3] / "shared"
SESSIONS = sorted((SHARED / "corpus" / "claude-code").glob("*.jsonl"))
"""The recorded sessions beside the repository; none where they are absent."""

RANKS = SHARED / "tiktoken"
"""Where the ranks of tiktoken lie, if they do."""


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
    """The recorded sessions, for a script: it ends with a message where there are none, and finds the ranks."""
    if not SESSIONS:
        sys.exit("The recorded sessions (../shared/corpus beside the repository) are not here: nothing is measured.")
    if RANKS.is_dir():
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(RANKS))
    return SESSIONS
