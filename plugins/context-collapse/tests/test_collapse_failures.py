"""A model that gives no usable summary: what was sent stays as it is, or is written without a model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from trimtab import AskFailed

BAD: dict[str, Any] = {
    "empty": " \n",
    "no text": None,
    "error text": "API Error: 529 overloaded",
    "refusal": "I'm sorry, but I can't help with that.",
    "tool call": "## Done\n<tool_use>Read</tool_use>\n## Found\n## Open",
    "a section missing": "## Done\nAll of it.\n## Open\nNothing.",
    "half a character": "## Done\n\ud83d\n## Found\n## Open",
    "longer than its input": "## Done\n" + "word " * 5_000 + "\n## Found\n-\n## Open\n-",
    "question too long": AskFailed("prompt is too long"),
    "exception": RuntimeError("down"),
    "timeout": TimeoutError("60 s"),
}
STOPPED = [KeyboardInterrupt(), asyncio.CancelledError()]

bad = pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
stopped = pytest.mark.parametrize("error", STOPPED, ids=lambda error: type(error).__name__)


@bad
def test_in_the_background(asking: Any, talk: Any, model: Any, answer: Any) -> None:
    """No span is staged, the next request is the last and what is new, and the trouble is reported."""
    ask = model(answer)
    run = asking(ask)
    last = run.fill(talk, 0.9)
    run.answered()
    assert len(ask.asked) == 1
    assert run.session.view.notes("context-collapse") is None
    messages = run(talk.work(1))
    assert messages[: len(last)] == last
    assert [said for said in run.request.report.warnings if "context-collapse: no answer: " in said]


@bad
@pytest.mark.parametrize("fallback", ["mechanical", "none"])
def test_while_a_request_waits(asking: Any, new_talk: Any, model: Any, notes: Any, answer: Any, fallback: str) -> None:
    """The mechanical writer steps in where the options say so; else what was sent stays. One question is enough."""
    ask, talk = model(answer), new_talk()
    run = asking(ask, fallback=fallback)
    while run.session.projection is None or run.session.view.tokens < 0.85 * run.session.window.effective:
        run(talk.work(1))
    talk.work(6)
    messages = run(talk)
    assert len(ask.asked) == 1
    assert [said for said in run.request.report.warnings if "context-collapse: no answer: " in said]
    if fallback == "none":
        assert messages == talk.messages
        assert run.session.ledger.decisions == []
    else:
        assert notes(messages)
        assert all("- Bash(command: make step" in text for text in notes(messages))
        assert len(messages) < len(talk.messages)


@stopped
def test_stopped_while_a_request_waits(asking: Any, talk: Any, model: Any, error: BaseException) -> None:
    """Whoever stops the pass stops it; nothing is recorded, and the next request is as if it had not been."""
    ask = model(error)
    run = asking(ask)
    while run.session.projection is None or run.session.view.tokens < 0.85 * run.session.window.effective:
        last = run(talk.work(1))
    with pytest.raises(type(error)):
        run(talk.work(6))
    assert run.session.ledger.decisions == []
    ask.answer = (RuntimeError("down"),)
    run.session.plan.stages[0].options.__dict__["fallback"] = "none"
    assert run(talk)[: len(last)] == last


@stopped
def test_stopped_in_the_background(asking: Any, talk: Any, model: Any, error: BaseException) -> None:
    """Nothing is staged, and the next answer asks again."""
    ask = model(error)
    run = asking(ask)
    last = run.fill(talk, 0.9)
    with pytest.raises(type(error)):
        run.answered()
    assert run(talk.work(1))[: len(last)] == last
    ask.answer = ()
    run.answered()
    assert len(run.session.view.notes("context-collapse")) == 3


def test_after_a_failure_the_background_waits(asking: Any, talk: Any, model: Any) -> None:
    """A model that is down is asked again after five requests, not after each answer."""
    ask = model(RuntimeError("down"))
    run = asking(ask, force_at=1.0, tail=0.05)
    run.fill(talk, 0.9)
    seen = []
    for _ in range(7):
        run.answered()
        seen.append(len(ask.asked))
        talk.messages += [{"role": "assistant", "content": "Hm."}, {"role": "user", "content": "Go on."}]
        run(talk)
    assert seen == [1, 1, 1, 1, 1, 2, 2]


def test_what_was_summarised_before_a_failure_is_kept(asking: Any, talk: Any, model: Any) -> None:
    """Of three questions the third fails: two spans are staged."""
    from trimtab.testing import Scripted

    good = "## Done\nsummary\n## Found\n-\n## Open\n-"
    run = asking(Scripted(good, good, RuntimeError("down")))
    run.fill(talk, 0.9)
    run.answered()
    assert len(run.session.view.notes("context-collapse")) == 2
