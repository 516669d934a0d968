"""Hypothesis strategies: conversations, and the numbers that a walk is drawn from. Both shrink."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from trimtab.testing.talk import Talk

__all__ = ["conversations", "numbers", "talks"]

FLAWS = 0.3
"""The share of exchanges that break a rule, where broken input is asked for."""


def numbers() -> st.SearchStrategy[random.Random]:
    """A `random.Random` whose numbers hypothesis draws: what is made of it shrinks with them."""
    return st.randoms(use_true_random=False)


@st.composite
def talks(
    draw: st.DrawFn, dialect: str = "anthropic", *, broken: bool = False, min_steps: int = 0, max_steps: int = 8
) -> Talk:
    """A `Talk` after some exchanges; `Talk.step` goes on with it."""
    talk = Talk(draw(numbers()), "you", FLAWS if broken else 0.0, dialect)
    for _ in range(draw(st.integers(min_steps, max_steps))):
        talk.step()
    return talk


def conversations(
    dialect: str = "anthropic", *, broken: bool = False, min_steps: int = 0, max_steps: int = 8
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """The messages that an agent would send next, after so many exchanges.

    They hold parallel calls, thinking (signed, or as ``reasoning_content``), pictures, empty, failing and huge results,
    interrupts (calls that nobody answers), server tools, system messages in between, Chinese, Cyrillic, emoji, and now
    and then a lone surrogate. With ``broken`` many exchanges break a rule of the provider: results that are lost,
    doubled, foreign or late, blank text, half server calls.

    ``dialect``: ``anthropic``, ``openai`` (chat completions) or ``responses``.
    """
    steps = {"min_steps": min_steps, "max_steps": max_steps}
    return talks(dialect, broken=broken, **steps).map(lambda talk: talk.messages)
