"""Which runs become notes, when, and that nothing of them is lost."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab import Drop, Hook, Insert, Pin, Stage, hookimpl
from trimtab.summary import counted
from trimtab_context_collapse.options import CollapseOptions
from trimtab_context_collapse.runs import runs


def tokens_of(text: str) -> set[str]:
    """The marks that the scenes put into results."""
    return {word.rstrip(":") for word in text.split() if word.startswith("step_")}


def test_at_the_age(opened: Any, talk: Any, notes: Any) -> None:
    """Six rounds become a note once the last of them was first sent more than 50 requests ago, not before."""
    run = opened()
    assert notes(run(talk.work(56))) == []
    messages = run(talk.work(1))
    assert len(notes(messages)) == 1
    assert messages[0] is talk.messages[0]
    assert messages[2:] == talk.messages[13:]


def test_where_the_cache_is_cold(opened: Any, talk: Any, notes: Any) -> None:
    """After a pause 20 requests are enough; with a warm cache and only `cold` nothing happens."""
    run = opened(when=["cold"], warm="refuse")
    run(talk.work(40))
    assert notes(run(talk.work(1))) == []
    run.now += 301
    (note,) = notes(run(talk.work(1)))
    assert "shortened: 21 rounds" in note


def test_cold_age_is_never_more_than_age(opened: Any, talk: Any, notes: Any) -> None:
    """Where only `age` was made smaller, what is cold does not have to be older than what is warm."""
    run = opened(when=["cold"], warm="refuse", age=15)
    run(talk.work(22))
    run.now += 301
    assert len(notes(run(talk.messages))) == 1


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        (0, [("74 rounds", 20)]),
        (11, [("44 rounds", 50), ("30 rounds", 20)]),
        (120, [("44 rounds", 50), ("14 rounds", 20)]),
        (190, [("44 rounds", 50)]),
    ],
)
def test_cold_age_is_for_runs_that_are_all_cold(
    opened: Any, talk: Any, held: int, expected: list[tuple[str, int]]
) -> None:
    """A run of which the cache holds a part must be older than `age`; what is cold behind it may be younger."""
    run = opened(when=[])
    run(talk.work(95))
    run.session.context.held = held
    found = runs(run.session.view, CollapseOptions(rounds=5))
    assert [(counted(run.session.view, one.items), one.age) for one in found] == expected


def test_short_runs_wait(opened: Any, talk: Any, notes: Any) -> None:
    """Fewer than `rounds` rounds stay as they are."""
    assert notes(opened(age=5)(talk.work(11))) == []
    assert len(notes(opened(age=5, rounds=5)(talk.messages))) == 1


def test_H44_notes_stand_in_a_row(opened: Any, talk: Any, notes: Any) -> None:
    """A new run starts behind the note before, which is never written again."""
    run = opened(age=5)
    seen: list[list[str]] = []
    for _ in range(30):
        seen.append(notes(run(talk.work(1))))
    assert [len(one) for one in seen[-1:]] == [4]
    for before, after in itertools.pairwise(seen):
        assert after[: len(before)] == before


def test_H11_H22_edits_come_in_batches(opened: Any, talk: Any) -> None:
    """The edge does not slide: between two notes a request is the last one and what is new."""
    run = opened(age=5)
    last: list[Any] = []
    edits = []
    for _ in range(40):
        messages = run(talk.work(1))
        edits.append(run.decided)
        if not run.decided:
            assert messages[: len(last)] == last
        last = messages
    assert sum(edits) == 5
    assert min(b - a for a, b in itertools.pairwise([at for at, edit in enumerate(edits) if edit])) == 6


def test_H23_nothing_before_the_run_moves(opened: Any, talk: Any, notes: Any) -> None:
    """A later note stands where its run stood: all before it are the same bytes."""
    run = opened(age=5)
    first = run(talk.work(12))
    assert len(notes(first)) == 1
    second = run(talk.work(6))
    assert len(notes(second)) == 2
    assert second[:2] == first[:2]


def test_H28_H36_nothing_to_fold_is_no_decision(opened: Any, talk: Any, notes: Any) -> None:
    """Where no run is due, or only users spoke, there is neither a note nor a row in the ledger."""
    for _ in range(8):
        talk.says("And this.")
        talk.messages.append({"role": "assistant", "content": "Yes."})
    talk.says("Now?")
    run = opened(age=20)
    assert notes(run(talk)) == []
    assert run.session.ledger.decisions == []


def test_H34_a_note_that_is_no_shorter_is_none(opened: Any, talk: Any) -> None:
    """Tiny rounds stay whole: no fixed text stands for them."""
    for _ in range(9):
        talk.round(("Bash", {"command": "true"}, "ok"))
    run = opened(age=2)
    assert run(talk) == talk.messages
    assert run.request.report.refused["context-collapse"] == {"does not shrink": 1}


def test_H06_parallel_batches_stay_whole(opened: Any, talk: Any, notes: Any) -> None:
    """Calls and results of one answer are folded or kept together, also at the end of a run."""
    for n in range(12):
        talk.round(*(("Read", {"file_path": f"/f{n}_{m}"}, f"step_{n}_{m} " * 60) for m in range(3)))
    run = opened(age=5)
    (note,) = notes(run(talk))
    assert note.count("- Read(") == 18


def test_the_first_message_stays(opened: Any, talk: Any) -> None:
    """The task is not folded, and so no note is a boundary."""
    talk.messages[0]["content"] = "Mend it. " * 400
    run = opened(age=5)
    for _ in range(40):
        messages = run(talk.work(1))
        assert messages[0] is talk.messages[0]
        assert not any(one.boundary for one in run.request.report.decisions)


def test_what_was_not_answered_in_the_run_stays(opened: Any, talk: Any, notes: Any) -> None:
    """A run ends with a round: what the user said behind it stands before its answer."""
    talk.work(6)
    talk.says("Use tabs, please.")
    talk.work(5)
    run = opened(age=4)
    messages = run(talk)
    assert "Use tabs" not in notes(messages)[0]
    assert messages[2] is talk.messages[13]


def test_H76_what_is_said_meanwhile_stays(opened: Any, talk: Any) -> None:
    """What the user says in the moment of a fold is the last message of the request, verbatim."""
    run = opened(age=5)
    run(talk.work(11))
    talk.work(1)
    talk.messages[-1]["content"].append({"type": "text", "text": "And stop at noon."})
    messages = run(talk)
    assert run.decided == 1
    assert messages[-1] is talk.messages[-1]


class Keep(Hook):
    """Pins what is to be kept."""

    name = "keep"

    @hookimpl
    def pre_compact(self, view: Any) -> Any:
        """Texts of the user with the mark."""
        for item in view.messages:
            for block in item.message.blocks if item.message else ():
                if "#keep" in block.text:
                    yield Pin(block, "marked")


def test_H40_pins_stand_behind_the_note(opened: Any, talk: Any, notes: Any) -> None:
    """Pinned text and results of a run follow its note, verbatim, through all later folds."""
    rule = "#keep Never push to main. " + "And other rules. " * 200
    result = "#keep " + "the only copy " * 100
    talk.says(rule)
    talk.round(("Bash", {"command": "x"}, result))
    run = opened(hooks=(Keep,), age=5)
    for _ in range(30):
        messages = run(talk.work(1))
    assert len(notes(messages)) == 4
    texts = [block.get("text") for block in messages[1]["content"]]
    assert rule in texts
    assert any(result in (text or "") for text in texts)


def test_H42_every_note_has_its_way_back(opened: Any, talk: Any, notes: Any, tmp_path: Any) -> None:
    """The ledger says what was folded, why, and where the full text lies; restoring brings the messages back."""
    run = opened(folder=tmp_path, age=5)
    (note,) = notes(run(talk.work(12)))
    (row,) = run.session.explain()
    assert row["why"] == "6 rounds older than 5 requests"
    assert any(path in note for path in row["way_back"])
    run.session.restore(run.session.ledger.decisions[-1].seq)
    assert run(talk) == talk.messages
    for _ in range(12):
        messages = run(talk.work(1))
    assert messages[:13] == talk.messages[:13]
    assert len(notes(messages)) == 2


def test_H74_a_second_pass_folds_nothing(opened: Any, talk: Any) -> None:
    """The same messages once more give the same request, without a decision."""
    run = opened(age=5)
    first = run(talk.work(20))
    assert run.decided == 1
    assert run(talk) == first
    assert run.decided == 0


def test_H77_a_rewound_conversation_is_not_hidden(opened: Any, talk: Any, notes: Any) -> None:
    """Where the history was changed inside the run, its note does not stand for it."""
    run = opened(age=5)
    assert len(notes(run(talk.work(12)))) == 1
    talk.messages[6]["content"][0]["content"] = "another output " * 30
    del talk.messages[13:]
    assert run(talk) == talk.messages


class Later(Hook):
    """Inserts a text at the tail of the first request."""

    name = "later"

    @hookimpl
    def session_start(self, session: Any, source: str) -> Any:
        """Once."""
        yield Insert("tail", "inserted_text for the model " * 20)


def test_inserts_are_told(opened: Any, talk: Any, notes: Any) -> None:
    """What a hook inserted inside the run stands in the note, shortened, and in the full text."""
    run = opened(hooks=(Later,), age=5)
    run(talk.work(1))
    (note,) = notes(run(talk.work(11)))
    assert "\nInserted: inserted_text for the model" in note
    assert "--- inserted\n" + "inserted_text for the model " * 20 in run.full(note)


def test_an_insert_before_the_run_stays(opened: Any, talk: Any, notes: Any) -> None:
    """What stands behind the first message is no part of the run behind it."""
    run = opened(hooks=(Later,), age=5)
    run(talk)
    messages = run(talk.work(12))
    (note,) = notes(messages)
    assert "inserted_text" in str(messages[1])
    assert "inserted_text" not in run.full(note)


class Gone(Stage):
    """Drops the third round."""

    name = "gone"

    def propose(self, view: Any) -> Any:
        """Once there are three."""
        for round in view.rounds[2:3]:
            if "step5" in str(round.messages[0].message.wire):
                yield Drop(round)


def test_the_full_text_holds_what_was_dropped(opened: Any, talk: Any, notes: Any) -> None:
    """Rounds that another stage took out of the view are part of the record that replaces their surroundings."""
    run = opened(stages=(Gone,), age=5)
    (note,) = notes(run(talk.work(13)))
    assert "step5" not in note
    assert "step5" in run.full(note)


def test_system_messages_part_runs(opened: Any) -> None:
    """Chat formats may have them in mid-conversation: no run reaches over one, each side has its note."""
    messages: list[Any] = [{"role": "system", "content": "Be good."}, {"role": "user", "content": "Go."}]
    for n in range(30):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "bash", "arguments": f'{{"command": "x{n}"}}'}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"step_{n} and nothing else " * 30},
        ]
        if n == 11:
            messages.append({"role": "system", "content": "Be quick."})
    run = opened(age=5, profile={"provider": {"kind": "openai", "window": 200_000}})
    shown = run(messages)
    texts = [str(message["content"])[:11] for message in shown]
    assert texts[:5] == ["Be good.", "Go.", "<collapsed>", "Be quick.", "<collapsed>"]


def accounted(run: Any, shown: list[Any]) -> set[str]:
    """The marks that stand in the request, or in the full text of one of its notes."""
    texts = [str(block) for message in shown for block in message["content"]]
    found = {mark for text in texts for mark in tokens_of(text.replace("'", " "))}
    for message in shown:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if str(block.get("text")).startswith("<collapsed>"):
                found |= tokens_of(run.full(block["text"]))
    return found


@settings(max_examples=25, deadline=None)
@given(
    shape=st.lists(st.sampled_from(["work", "says", "pause", "prepare"]), min_size=10, max_size=60),
    rounds=st.integers(1, 4),
    age=st.integers(1, 6),
    cold_age=st.integers(1, 6),
)
def test_H03_H04_H39_every_message_is_shown_or_told(
    opened: Any, new_talk: Any, shape: list[str], rounds: int, age: int, cold_age: int
) -> None:
    """However many folds follow each other, all that was said stands in the request or in a note's full text."""
    run, talk = opened(rounds=rounds, age=age, cold_age=cold_age, when=["cold", {"over": 2_000}]), new_talk()
    said = set()
    for step in [*shape, "work", "prepare"]:
        if step == "says":
            talk.says(f"step_said_{len(talk.messages)} " * 3)
            said.add(f"step_said_{len(talk.messages) - 1}")
        elif step == "work":
            said.add(f"step_{len(talk.messages)}")
            talk.work(1)
        elif step == "pause":
            run.now += 301
        else:
            assert accounted(run, run(talk)) >= said
