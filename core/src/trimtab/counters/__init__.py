"""Token counters: callables from a text to its uncalibrated tokens, on the scale of o200k_base.

`choose` picks one by name. What a request really weighs is the provider's to say; the meter scales to it.
"""

from __future__ import annotations

from typing import Protocol

from trimtab.errors import Unknown
from trimtab.parts import part

__all__ = ["Counter", "choose"]


class Counter(Protocol):
    """Uncalibrated tokens of a text; ``name`` says by which rule, for reports."""

    @property
    def name(self) -> str:
        """The counter's name, like ``estimate`` or ``tiktoken:o200k``."""

    def __call__(self, text: str) -> int:
        """Tokens of ``text`` on the scale of o200k_base, at least 0."""


def choose(name: str = "auto") -> Counter:
    """The counter registered as ``name``; ``auto`` is tiktoken where its ranks are found, else the estimate.

    Raises `errors.Unknown` for a name that nothing has, and for ``tiktoken`` without its ranks.
    """
    if name != "auto":
        counter: Counter = part("counter", name)()
        return counter
    from trimtab.counters.estimate import Estimate
    from trimtab.counters.tiktoken import Tiktoken

    try:
        return Tiktoken()
    except Unknown:
        return Estimate()
