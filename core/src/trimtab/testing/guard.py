"""Notices what a stage may not do while it looks at a view: I/O, the clock, random numbers.

I/O is seen by an audit hook of the interpreter, clocks and random numbers by a profile function: both see a call
however its function was imported.
"""

from __future__ import annotations

import gc
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from types import FrameType
from typing import Any

__all__ = ["watched"]

IO = ("ftplib.", "http.", "os.", "pathlib.", "shutil.", "smtplib.", "socket.", "sqlite3.", "subprocess.", "urllib.")
"""Audit events by which I/O begins, beside `open`."""
PURE = ("_path_normpath", "fspath", "urandom")
"""Functions of `os` that look at no disk."""

CLOCKS = frozenset(
    [
        "monotonic",
        "monotonic_ns",
        "perf_counter",
        "perf_counter_ns",
        "process_time",
        "process_time_ns",
        "sleep",
        "thread_time",
        "time",
        "time_ns",
        "clock_gettime",
        "clock_gettime_ns",
        "ctime",
        "gmtime",
        "localtime",
        "strftime",
    ]
)

TIMING = "trimtab.report"
"""Takes the time of hooks, which a stage's look at the guides calls."""

_watching: dict[int, list[str]] = {}
"""Thread to what it was seen doing."""
_hooked = False


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    seen = _watching.get(threading.get_ident()) if _watching else None
    if seen is None:
        return
    if event == "open" or event.startswith(IO):
        seen.append(f"{event} {arguments[0] if arguments else ''}".strip())


def _profile(frame: FrameType, event: str, function: Any) -> None:
    if event != "c_call" or frame.f_globals.get("__name__") == TIMING:
        return
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    module = getattr(owner, "__name__", "") if not isinstance(owner, type) else ""
    clock = (module == "time" and name in CLOCKS) or (
        isinstance(owner, type) and issubclass(owner, date | datetime) and name in ("now", "today", "utcnow")
    )
    disk = module in ("nt", "posix") and name not in PURE  # what has no audit event, as stat
    chance = owner is random._inst or isinstance(owner, random.SystemRandom) or name in ("urandom", "getrandom")
    if clock or chance or disk:
        where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        what = "the clock" if clock else "chance" if chance else "the system"
        _watching[threading.get_ident()].append(f"{what}: {name} ({where})")


@contextmanager
def watched(seen: list[str]) -> Iterator[None]:
    """Append to ``seen`` what this thread does inside the block that a stage may not do."""
    global _hooked
    if not _hooked:
        sys.addaudithook(_audit)
        _hooked = True
    before, collecting = sys.getprofile(), gc.isenabled()
    gc.disable()  # whoever listens to the collector may look at the clock
    _watching[threading.get_ident()] = seen
    sys.setprofile(_profile)
    try:
        yield
    finally:
        sys.setprofile(before)
        del _watching[threading.get_ident()]
        if collecting:
            gc.enable()
