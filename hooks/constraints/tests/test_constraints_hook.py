"""In a session: what stays behind a boundary, what a later statement lets go, and what it costs."""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import patch

import trimtab_constraints.hook as hook_module
from trimtab import Pin, View
from trimtab_constraints import Constraints, find

RULE = "Never push to the main branch."
OLD, NEW = "The project budget is $2,000.", "Keep the project's spending below $1,500 from now on."


def test_a_rule_stays_behind_every_boundary(chat: Any) -> None:
    """What the user ruled is sent verbatim after one boundary and after the next, the rest of the message is not."""
    chat.user(f"Please mend the parser. {RULE} It lives in src.").work(30)
    first = chat.fold()
    chat.work(30)
    second = chat.fold()
    assert first.count(RULE) == second.count(RULE) == 1
    assert "It lives in src" not in first
    assert [(pin.text, pin.moving) for pin in chat.report.pins] == [(RULE, True)]


def test_a_later_value_lets_the_earlier_go(chat: Any) -> None:
    """Said before one boundary, both values: only the newest stays; a value said later replaces what a fold carried."""
    chat.user(OLD).work(20)
    assert OLD in chat.fold()
    chat.user(NEW).work(20)
    after = chat.fold()
    assert (after.count(OLD), after.count(NEW)) == (0, 1)


def test_only_what_the_user_typed_is_looked_at(chat: Any) -> None:
    """Rules in results and in answers are not the user's."""
    chat.user("Mend the parser.").work(20, result=f"{RULE} " * 30, text=RULE)
    chat.fold()
    assert chat.report.pins == []


def test_a_budget_keeps_the_newest_and_names_the_lost(small: Any) -> None:
    """With room for some only the newest stay, and the report says which rule may be lost."""
    small.user(RULE).user("Do not delete anything under backups, whatever I ask later on.")
    small.user("Always run the linter before you commit.").work(20)
    sent = small.fold()
    assert "Always run the linter" in sent
    assert RULE not in sent
    assert any("constraints" in warning and RULE in warning for warning in small.report.warnings)
    small.work(20).fold()
    assert not any(RULE in warning for warning in small.report.warnings), "what no fold carries is gone"


def test_each_message_is_looked_at_once(chat: Any) -> None:
    """A second pass looks at the new message only."""
    chat.user(RULE).user("Mend the parser.").work(20)
    with patch.object(hook_module, "find", side_effect=find) as looked:
        chat.fold()
        chat.work(20).fold()
    assert [call.args[0] for call in looked.call_args_list] == [RULE, "Mend the parser.", "Go on.", "Go on."]


def test_a_call_without_news_is_quick(chat: Any) -> None:
    """At 1,000 messages a call with nothing new takes less than 2 ms (the quickest of 20)."""
    for n in range(25):
        chat.user(f"Never touch the folder part_{n}.").work(19)
    assert len(chat.messages) >= 1_000
    view: View = chat.session.prepare(list(chat.messages)) and chat.session.view
    mine = Constraints()
    pins = list(mine.pre_compact(view))
    assert len(pins) == 25
    assert all(isinstance(pin, Pin) for pin in pins)

    def timed() -> float:
        start = time.perf_counter()
        list(mine.pre_compact(view))
        return time.perf_counter() - start

    assert min(timed() for _ in range(20)) < 0.002
