"""Writes a live session to a file that ``trimtab replay`` reads."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any, Self

from trimtab.dialect import Dialect, Usage
from trimtab.errors import TranscriptError, told
from trimtab.parts import part
from trimtab.session import Session
from trimtab.testing.wires import WIRES
from trimtab.transcripts.recorded import NAME, NEUTRAL, VERSION, Tape
from trimtab.transcripts.source import load

__all__ = ["Recorder"]

WRAPPED = ("acompact", "aobserve", "aprepare", "compact", "observe", "prepare")


class Recorder:
    """Appends every request and response to a JSON Lines file, line by line; an existing file is continued.

    Either it watches a session, whose `prepare`, `aprepare`, `compact` and `observe` it wraps until `close`::

        recorder = Recorder("talk.jsonl", session)

    or the agent calls `request` before and `response` after each request, with no session at all. Of a request only
    messages that the file lacks are written, as they were said: before anything is shortened, and without cache
    markers. ``clock`` gives epoch seconds. Raises `TranscriptError` for a file that is no recording of this session, or
    that another recorder writes. A line that cannot be written (`OSError`: a full disk) leaves nothing in the file.

    The file holds all that was said, personal data and secrets included.
    """

    def __init__(
        self,
        path: str | Path,
        session: Session | None = None,
        *,
        dialect: str = "anthropic",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = Path(path)
        self.session = session
        self._clock = clock
        self._dialect: Dialect = session.dialect if session else part("dialect", dialect)()
        self._lock = threading.Lock()
        self._tape = Tape()
        name = session.id if session else self.path.stem
        begin = {
            "kind": "recording",
            "trimtab": NAME,
            "version": VERSION,
            "session": name,
            "dialect": self._dialect.name,
        }
        self._file = self.path.open("ab", buffering=0)
        try:
            self._claim()
            torn = self._continue(begin)
            if torn:
                self._append(b"\n")
            if not self._tape.session:
                self._write(begin)
        except BaseException:
            self._file.close()
            raise
        if session is not None:
            self._watch(session)

    def request(
        self, messages: Sequence[Any], system: Any = None, tools: Any = None, *, at: float | None = None
    ) -> None:
        """Record a request as the agent hands it over, made ``at`` epoch seconds (now, if not said).

        Raises `ValueError` or `TypeError` for what replay could not read: an infinite time, a message without a role.
        """
        if not messages:
            return
        plain = [json.loads(json.dumps(self._dialect.plain(message))) for message in messages]
        head = json.loads(json.dumps([self._dialect.bare(system), self._dialect.bare(tools)]))
        with self._lock:
            if tuple(head) not in self._tape.heads:
                self._write({"kind": "head", "system": head[0], "tools": head[1]})
            number = self._tape.heads.index(tuple(head))
            now = self._clock() if at is None else at
            self._write({"kind": "request", "at": now, "head": number, **self._tape.row(plain)})

    def response(self, response: Any) -> None:
        """Record what the provider answered to the last request: an SDK object, a mapping, or just its usage."""
        said = self._plain(response)
        usage = said.get("usage") if "usage" in said or "content" in said or "choices" in said else said
        model = said.get("model")
        with self._lock:
            if self._tape.requests:
                row = {
                    "usage": usage if isinstance(usage, dict) else None,
                    "model": model if isinstance(model, str) else None,
                    "answer": _answer(said),
                }
                self._write({"kind": "response", "request": len(self._tape.requests) - 1, **row})

    def close(self) -> None:
        """Stop watching and close the file."""
        if self.session is not None:
            for name in WRAPPED:
                vars(self.session).pop(name, None)
        if not self._file.closed:
            fcntl.flock(self._file, fcntl.LOCK_UN)  # closing does not unlock what a forked child has inherited
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _claim(self) -> None:
        """Take the file for this recorder alone, until `close`."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            what = "another recorder writes this file; close that one, or choose another file"
            raise TranscriptError(what, where=str(self.path)) from error

    def _continue(self, begin: Mapping[str, Any]) -> bool:
        """Read what the file holds already; whether its last line is torn."""
        if not self.path.exists() or not self.path.stat().st_size:
            return False
        source = load(self.path, [NAME])
        first = source.objects[0][1] if source.objects else {}
        if any(first.get(key) != value for key, value in begin.items()):
            what = f"no recording of session {begin['session']!r} in dialect {begin['dialect']!r}; choose another file"
            raise TranscriptError(what, where=f"{self.path}:1")
        self._tape.load(source)
        return not self.path.read_bytes().endswith(b"\n")

    def _write(self, row: Mapping[str, Any]) -> None:
        self._tape.check(row)
        self._append(json.dumps(row).encode("ascii") + b"\n")
        self._tape.take(row)

    def _append(self, data: bytes) -> None:
        """All of ``data``, or nothing."""
        good = os.fstat(self._file.fileno()).st_size
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException:
            self._file.truncate(good)
            raise

    def _watch(self, session: Session) -> None:
        """Wrap the methods of this one session; a request is written once its pass has told its time."""

        def recorded(name: str) -> Callable[..., Any]:
            method = getattr(session, name)

            @wraps(method)
            def call(messages: Sequence[Any] | None = None, system: Any = None, tools: Any = None, **more: Any) -> Any:
                with self._around(session, messages, system, tools):
                    return method(messages, system, tools, **more)

            @wraps(method)
            async def acall(messages: Any = None, system: Any = None, tools: Any = None, **more: Any) -> Any:
                with self._around(session, messages, system, tools):
                    return await method(messages, system, tools, **more)

            return acall if name.startswith("a") else call

        for name in ("acompact", "aprepare", "compact", "prepare"):
            setattr(session, name, recorded(name))
        observe = session.observe

        @wraps(observe)
        def observed(response: Any, request: Any = None) -> bool:
            overflow = observe(response, request)
            with self._apart():
                self.response(response)
            return overflow

        aobserve = session.aobserve

        @wraps(aobserve)
        async def aobserved(response: Any, request: Any = None) -> bool:
            overflow = await aobserve(response, request)
            with self._apart():
                self.response(response)
            return overflow

        session.observe, session.aobserve = observed, aobserved  # type: ignore[method-assign]

    @contextmanager
    def _around(self, session: Session, messages: Any, system: Any, tools: Any) -> Iterator[None]:
        said = list(messages or ())
        try:
            yield
        finally:
            with self._apart():
                self.request(said, system, tools, at=session.context.now)

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """What cannot be recorded costs a warning, not the agent's request."""
        try:
            yield
        except Exception as error:
            warnings.warn(f"{self.path}: not recorded: {told(error)}", RuntimeWarning, stacklevel=2)

    def _plain(self, response: Any) -> dict[str, Any]:
        """A response as JSON data; a `Usage` in the words of the provider, or as it is where these are not known."""
        if not isinstance(response, Usage):
            return _json(response)
        if self._dialect.name not in WIRES:
            return {"usage": {NEUTRAL: asdict(response)}, "model": response.model}
        counts = WIRES[self._dialect.name].usage(response.read, response.written, response.fresh)
        if not response.split:
            counts = {name: tokens for name, tokens in counts.items() if "cache" not in name and "details" not in name}
        return {"usage": counts, "model": response.model}


def _json(response: Any) -> dict[str, Any]:
    if not isinstance(response, Mapping) and hasattr(response, "model_dump"):
        response = response.model_dump(mode="json", exclude_none=True)
    said: Any = json.loads(json.dumps(response, default=_jsonable)) if isinstance(response, Mapping) else {}
    return dict(said)


def _jsonable(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True) if hasattr(value, "model_dump") else str(value)


def _answer(said: Mapping[str, Any]) -> Any:
    """The message of a response (the items of its output), as it is put into the history; None where there is none."""
    if isinstance(said.get("output"), list):
        return said["output"] or None
    choices = said.get("choices")
    if isinstance(choices, list) and choices:
        message = choices[0].get("message") if isinstance(choices[0], dict) else None
        answer = {"role": "assistant", **message} if isinstance(message, dict) else {}
        return answer if isinstance(answer.get("role"), str) else None
    return {"role": "assistant", "content": said["content"]} if isinstance(said.get("content"), list) else None
