"""Summaries by a model in conversations of any course: nothing is lost, and nothing moves without a decision."""

from __future__ import annotations

import random
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

STEPS = ["work", "work", "work", "says", "answered", "answered", "pause", "rewind", "restore", "resume"]
SMALL = {"stage_at": 0.4, "force_at": 0.6, "span": 0.08, "tail": 0.1, "when": ["cold", {"over": 0.5}]}


def marks(text: str) -> set[str]:
    """The marks that the scenes put into texts."""
    return set(re.findall(r"\b(?:step|said)_\d+\b", text))


def told(run: Any, messages: list[Any], notes: Any) -> set[str]:
    """The marks that stand in the request, or in the full text of one of its folds."""
    found = {mark for message in messages for mark in marks(str(message["content"]))}
    return found.union(*(marks(run.full(text)) for text in notes(messages)))


@settings(max_examples=8, deadline=None)
@given(
    shape=st.lists(st.sampled_from(STEPS), min_size=15, max_size=50),
    seed=st.integers(0, 9),
    fallback=st.sampled_from(["mechanical", "none"]),
)
def test_H03_H39_H73_every_message_is_shown_or_told(
    asking: Any, new_talk: Any, model: Any, notes: Any, shape: list[str], seed: int, fallback: str
) -> None:
    """What the user said is in the request, all else there or in a full text, and without a decision nothing moves."""
    rng = random.Random(seed)

    class Moody(model):  # type: ignore[misc]
        def __call__(self, ask: Any) -> Any:
            self.answer = () if rng.randrange(3) else ("sorry",)
            return super().__call__(ask)

    provider = {"window": 8_000, "prefix_bound": bool(seed % 2)}
    run, talk = asking(Moody(), profile={"provider": provider}, fallback=fallback, **SMALL), new_talk()
    last: list[Any] = []
    for step in [*shape, "work"]:
        if step == "work":
            talk.work(1)
        elif step == "says":
            talk.says(f"said_{len(talk.messages)}")
            talk.messages.append({"role": "assistant", "content": "Yes."})
            talk.says("Go on.")
        elif step == "pause":
            run.now += 301
        elif step == "rewind" and len(talk.messages) > 8:
            del talk.messages[-rng.randrange(1, 6) :]
            while talk.messages[-1]["role"] != "user":
                talk.messages.pop()
            last = []
        elif step == "restore" and run.session.ledger.decisions:
            run.session.restore(rng.randint(1, len(run.session.ledger.decisions)))
        elif step == "resume" and run.request is not None:
            run.session = run.again()
        elif step == "answered" and run.request is not None:
            run.answered()
        if run.session.projection is not None and run.session.view.tokens > 0.8 * run.session.window.effective:
            return
        messages = run(talk)
        said = [marks(str(message["content"])) for message in talk.messages]
        assert told(run, messages, notes) >= set().union(*said)
        shown = {mark for message in messages for mark in marks(str(message["content"])) if mark.startswith("said")}
        assert shown >= {mark for found in said for mark in found if mark.startswith("said")}
        if not any(not one.free for one in run.request.report.decisions):
            assert messages[: len(last)] == last
        last = messages
