"""One question to a model while it is under way: how long it may take, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from trimtab.ask import Ask
from trimtab.errors import AskFailed

__all__ = ["Progress", "Question"]

State = Literal["begun", "answering", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a question is. ``seconds`` since it was asked, ``characters`` of the answer so far."""

    purpose: str
    state: State
    seconds: float
    characters: int


class Question:
    """One question under way."""

    def __init__(self, ask: Ask, seconds: float, progress: Callable[[Progress], object] | None) -> None:
        self.ask = ask
        self.seconds = seconds
        """That its answer may take."""
        self._over = False
        self._began = time.monotonic()
        self._characters = 0
        self._progress = progress
        self._tell("begun")

    @property
    def left(self) -> float:
        """Seconds until it times out."""
        return max(0.0, self._began + self.seconds - time.monotonic())

    def came(self, text: str = "") -> None:
        """Something of the answer came; raises `AskFailed` where nobody waits for it, so that its work ends."""
        if self._over:
            raise AskFailed("nobody waits for the answer")
        self._characters += len(text)
        self._tell("answering")

    def end(self, state: Literal["done", "failed"]) -> None:
        """It is answered, or it never will be."""
        if not self._over:
            self._over = True
            self._tell(state)

    def late(self) -> AskFailed:
        """The failure where time ran out."""
        return AskFailed(f"no answer within {self.seconds:g} s ({self._characters} characters of it had come)")

    def _tell(self, state: State) -> None:
        if self._progress is not None:
            with suppress(Exception):  # a broken display is no reason to lose an answer
                spent = time.monotonic() - self._began
                self._progress(Progress(self.ask.purpose, state, spent, self._characters))
