"""Which memories bear on what the user says, by the words in common; where few are, none does."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trimtab_relevant_memories.files import Memory

__all__ = ["brief", "by_words", "terms"]

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(f"[^\\W_{_CJK}]+")
_END = re.compile(r"(?<=\w{4})(?:ing|ed)$|(?<=\w{2}[^s])s$")
"""Endings that seldom make another word."""
_STOP = """
    about add after again all also and any are back because been before but can change check code could did does doing
    done each else error even every file files find first fix for from get give good has have here how into its just
    know last let like line look made make makes making many may more most much must need needs new next not now off old
    one only other our out over own please project put read run same see set should show some still sure take tell
    than thank thanks that the their them then there these they thing this those through time too try two under until
    update use used user uses using very want was way well were what when where which while who why will with without
    work works would write yes yet you your
    一下 一个 不要 不是 为什 什么 他们 可以 如何 如果 怎么 我们 所有 是否 时候 没有 然后 现在 的是 的时 这个 这些
    进行 那个 都是 需要 请帮 帮我 使用 文件 代码 问题
"""
STOP = frozenset(_STOP.split())
"""Words that say nothing of what a text is about, nor do the commonest of work on software: chosen."""

LEAST = 2
"""Words in common, at least, and"""
SHARE = 0.25
"""of the words of the shorter side, and"""
LONG = 3
"""the square root of the number of the user's words, divided by this: a long text has words in common with anything."""
NAMED = 12
"""Words of the user, for each word of a memory's name, among which these words are enough if they are all there."""
SHORT = 4
"""Words of the user among which one of a memory's name is enough. All five: chosen, on the recorded sessions."""


def terms(text: str) -> set[str]:
    """What is compared: words in lower case without endings, and every two neighbours where words have no spaces."""
    text = text.lower()
    pairs = {run[n : n + 2] for run in _RUN.findall(text) for n in range(max(1, len(run) - 1))}
    words = (word for word in _WORD.findall(text) if len(word) > 2 and word not in STOP and not word.isdigit())
    return {_END.sub("", word) for word in words} | (pairs - STOP)


def brief(text: str) -> bool:
    """Whether a text is one word or none, such as ``yes`` or ``继续``: it says nothing of what it is about."""
    return len(_WORD.findall(text)) + sum(len(run) / 2 for run in _RUN.findall(text)) < LEAST


def by_words(said: str, memories: Iterable[Memory]) -> list[Memory]:
    """The memories that share enough words with what was said, the most first."""
    wanted = terms(said)
    scores = [(_score(wanted, memory), memory) for memory in memories]
    return [memory for score, memory in sorted(scores, key=lambda one: -one[0]) if score]


def _score(wanted: set[str], memory: Memory) -> float:
    """Words in common, those of the name twice; 0 where they are too few."""
    name, words = terms(memory.name), terms(f"{memory.name} {memory.description}")
    common, named = len(wanted & words), len(wanted & name)
    enough = max(LEAST, SHARE * min(len(wanted), len(words)), len(wanted) ** 0.5 / LONG)
    whole = named == len(name) and len(wanted) <= NAMED * named
    return common + named if common >= enough or whole or (named and len(wanted) <= SHORT) else 0
