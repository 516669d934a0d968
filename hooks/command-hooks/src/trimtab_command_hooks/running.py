"""One process: fed, read within limits, and ended with all that it started when it misbehaves."""

from __future__ import annotations

import errno
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import IO

__all__ = ["MOST", "Ran", "run"]

MOST = 1_000_000
"""Bytes of each output that are read; a command that writes more is ended. Chosen."""

MOMENT = 1.0
"""Seconds between the polite and the certain signal. Chosen."""

TICK = 0.05
"""Seconds between two looks whether a process has ended that keeps its pipes open. Chosen."""

CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command: its exit status (negative: the signal that ended it), what it wrote, or the trouble."""

    status: int = 0
    out: bytes = b""
    err: bytes = b""
    trouble: str = ""
    """Why it could not be started or was ended; then nothing else counts."""


def run(argv: Sequence[str], given: bytes, timeout: float, folder: Path, env: Mapping[str, str], stop: Event) -> Ran:
    """Start a command, give it ``given`` on stdin and wait: ``timeout`` seconds, or until ``stop`` is set."""
    try:
        process = subprocess.Popen(
            argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=env,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ran(trouble=_unstarted(argv[0], folder, error))
    pipes = _Pipes(process, given)
    try:
        trouble = pipes.pump(timeout, stop)
    finally:
        if process.returncode is None:
            _end(process)
        pipes.close()
    return Ran(process.returncode, bytes(pipes.out), bytes(pipes.err), trouble)


class _Pipes:
    """The three pipes of a process; a child that it left behind may hold them open for ever."""

    def __init__(self, process: subprocess.Popen[bytes], given: bytes) -> None:
        self.process, self.given = process, memoryview(given)
        self.out, self.err = bytearray(), bytearray()
        self.selector = selectors.DefaultSelector()
        self.reading = 2
        for pipe, into in ((process.stdin, None), (process.stdout, self.out), (process.stderr, self.err)):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            event = selectors.EVENT_WRITE if into is None else selectors.EVENT_READ
            self.selector.register(pipe, event, (pipe, into))

    def pump(self, timeout: float, stop: Event) -> str:
        """Move bytes until the process has ended and nothing more is there to read; the trouble, if there is any."""
        deadline = time.monotonic() + timeout
        while True:
            ended = self.process.poll() is not None
            moved = [self._move(*key.data) for key, _ in self.selector.select(0 if ended else TICK)]
            if max(len(self.out), len(self.err)) > MOST:
                return f"wrote more than {MOST:,} bytes, ended"
            if ended and not any(moved):
                return ""
            if stop.is_set():
                return "interrupted"
            if (left := deadline - time.monotonic()) <= 0:
                return f"not done after {timeout:g} s, ended"
            if not self.reading and not ended:
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(min(left, TICK))

    def _move(self, pipe: IO[bytes], into: bytearray | None) -> bool:
        """Write or read a piece; True where something was read."""
        try:
            if into is None:
                self.given = self.given[os.write(pipe.fileno(), self.given[:CHUNK]) :]
                done = not self.given
            else:
                data = os.read(pipe.fileno(), CHUNK)
                into += data
                self.reading -= not data
                done = not data
        except BlockingIOError:
            return False
        except OSError:  # it closed its stdin
            done = True
        if done:
            self.selector.unregister(pipe)
            pipe.close()
        return into is not None and not done

    def close(self) -> None:
        """Let go of what is still open."""
        self.selector.close()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End its whole group, at first politely."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(MOMENT)


def _unstarted(program: str, folder: Path, error: OSError | ValueError) -> str:
    number = getattr(error, "errno", None) or 0
    if number == errno.ENOENT and not folder.is_dir():
        return f"cannot be started: there is no folder {folder}"
    if number == errno.ENOENT and "/" in program and os.path.exists(program):
        return f"cannot be started: the program that the first line of {program} names does not exist"
    why = {
        errno.ENOENT: f"there is no {program}" if "/" in program else f"no {program} on the PATH",
        errno.EACCES: f"{program} is not executable; chmod +x makes it so",
        errno.ENOEXEC: f"{program} does not begin with #! and a program, as #!/bin/sh",
    }.get(number, f"{program}: {error}")
    return f"cannot be started: {why}"
