"""What a rule pins is in every later request, whatever boundaries come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from trimtab_pins import Pins, PinsOptions
from trimtab_pins.find import Finder

STEPS = ["tell", "ask", "say", "read", "work", "todo", "cold", "again"]
Said = list[tuple[str, str]]


def of(*kinds: str, holding: str = "") -> Callable[[Said], list[str]]:
    """All texts of some kinds that hold certain words."""
    return lambda said: [text for kind, text in said if kind in kinds and holding in text]


RULES: list[tuple[dict[str, Any], Callable[[Said], list[str]]]] = [
    ({"first": "user"}, lambda said: of("tell", "ask")(said)[:1]),
    ({"role": "user"}, of("tell", "ask")),
    ({"match": r"number \d+ #keep"}, of("tell")),
    ({"contains": "#keep"}, of("tell")),
    ({"tag": "#keep"}, of("tell", "read")),
    ({"file": "src/config.py"}, lambda said: of("read")(said)[-1:]),
    ({"tool": "todo*"}, of("todo")),
    ({"tool": "TodoWrite", "last": 1}, lambda said: of("todo")(said)[-1:]),
    ({"last": 3}, lambda said: of("tell", "ask", "say")(said)[-3:]),
]


def step(talk: Any, kind: str, n: int) -> list[tuple[str, str]]:
    """Go on by one step; what it said."""
    match kind:
        case "tell":
            text = f"Tell number {n} #keep. {'Word for word. ' * 9}"
            talk.user(text)
        case "ask":
            text = f"Ask number {n}. {'As it is. ' * 9}"
            talk.user(text)
        case "say":
            text = f"Say number {n}. {'So it is. ' * 9}end"
            talk.says(text)
        case "read":
            text = f"CONFIG = {n}  # (#keep) {'old line ' * 40}"
            talk.read("/app/src/config.py", text)
        case "todo":
            text = f"todo number {n}: {'mend it ' * 20}"
            talk.call("TodoWrite", {"todos": [n]}, text)
        case _:
            talk.rounds(3)
            return []
    return [(kind, text)]


@pytest.mark.parametrize(("rule", "wanted"), RULES, ids=lambda one: str(one) if isinstance(one, dict) else "")
def test_pinned_texts_stay(dialect: str, new_talk: Any, run: Any, rule: Any, wanted: Any) -> None:
    """Word for word in every request: warm, cold, in a new process, and over many boundaries."""

    @settings(max_examples=5, deadline=None, derandomize=True, database=None, phases=[Phase.generate])
    @given(st.lists(st.sampled_from(STEPS), min_size=8, max_size=24))
    def check(kinds: list[str]) -> None:
        session, talk = run(dialect, rule), new_talk(dialect)
        said = step(talk, "tell", 0)
        for n, kind in enumerate([*kinds, "work", "cold", "work", "cold"], 1):
            if kind == "again":
                session.open(rule)
            said += step(talk, kind, n)
            shown = "\n".join(session.send(talk, 4_000.0 if kind in ("cold", "again") else 5.0))
            assert [text for text in wanted(said) if text not in shown] == []

    check()


def test_without_rules_they_would_be_lost(dialect: str, talk: Any, run: Any) -> None:
    """The same conversation, and nothing that was said long ago is left."""
    session = run(dialect, [])
    said = [one for kind in ("tell", "ask", "say", "read", "todo", "work", "work") for one in step(talk, kind, 1)]
    session.send(talk)
    shown = "\n".join(session.cold(talk))
    assert [text for _, text in said if text in shown] == []


def test_a_moving_pin_leaves_no_row_and_what_it_left_may_go(dialect: str, talk: Any, run: Any) -> None:
    """The newest read takes the place of the one before, also of one that a fold carries."""
    session = run(dialect, {"file": "src/config.py"})
    session.send(talk.user("Mend it.").read("src/config.py", "DEBUG = 1, as it was").rounds(8))
    assert any("DEBUG = 1" in text for text in session.cold(talk))
    shown = session.cold(talk.rounds(8))
    assert any("DEBUG = 1" in text for text in shown)
    shown = session.cold(talk.read("/app/src/config.py", "DEBUG = 2, as it is").rounds(8))
    assert any("DEBUG = 2" in text for text in shown)
    assert not any("DEBUG = 1" in text for text in shown)
    assert [row for row in session.session.explain() if row["kind"] == "pin"] == []


def test_what_a_budget_lost_is_told_where_it_is_lost(dialect: str, talk: Any, run: Any) -> None:
    """The report of the pass that makes a boundary names what went; what stayed is the newest."""
    session = run(dialect, {"contains": "#keep", "budget": 150})
    for n in range(8):
        talk.user(f"Tell number {n} #keep. {'Word for word. ' * 9}").rounds(1)
    session.send(talk.rounds(4))
    shown = "\n".join(session.cold(talk))
    kept = [n for n in range(8) if f"Tell number {n} #keep" in shown]
    [warning] = [text for text in session.report.warnings if text.startswith("pins: ")]
    assert kept == list(range(8 - len(kept), 8))
    assert 0 < len(kept) < 8
    assert [n for n in range(8) if f"Tell number {n}" in warning] == [n for n in range(8) if n not in kept]


def test_each_message_is_looked_at_once(dialect: str, talk: Any, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands behind it in a request, and however often it comes."""
    looked: Counter[str] = Counter()
    look = Finder.__call__

    def count(self: Finder, view: Any, message: Any) -> Any:
        looked[message.id] += 1
        return look(self, view, message)

    monkeypatch.setattr(Finder, "__call__", count)
    hook, session, said = Pins(PinsOptions.model_validate({"last": 3})), run(dialect, []), []
    messages = talk.user("Mend it.").rounds(4).says("It is mended.").messages
    for end in (3, 3, len(messages), 5, len(messages)):
        talk.messages = messages[:end]
        session.send(talk)
        said.append([pin.block.text for pin in hook.pre_compact(view=session.session.view)])
    assert said == [["Mend it."], ["Mend it."], ["Mend it.", "It is mended."], ["Mend it."], said[2]]
    assert looked == dict.fromkeys(looked, 1)
    assert len(looked) == len(messages)
