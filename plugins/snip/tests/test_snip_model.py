"""Mode ``model`` in a real session: what a tag takes, what stays and why, and when it goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from trimtab import Hook, Pin, hookimpl

TEXT = "\n".join(f"line {n} of the file" for n in range(200))


def read(n: int, text: str = TEXT) -> tuple[str, dict[str, str], str]:
    """A call that reads file ``n``."""
    return "Read", {"file_path": f"/{n}"}, text


def says(talk: Any, text: str) -> None:
    """The model ends its turn, and the user says something new."""
    talk.messages += [
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": text},
    ]


def told(text: str) -> float:
    """The tokens that a result's text says will go."""
    return float(text.partition("about ")[2].partition(" tokens")[0].replace(",", ""))


@pytest.fixture
def run(modelled: Any, talk: Any) -> Any:
    """A session after a closed turn (of two rounds) and an open one (of three)."""
    run = modelled()
    run(talk)
    talk.round(read(1), read(2))
    talk.round(read(3))
    says(talk, "Now the tests.")
    for n in (4, 5, 6):
        talk.round(read(n))
    run(talk)
    return run


def test_tagged(run: Any, talk: Any) -> None:
    """Each message of the user and each with results ends with its tag; what the model said does not."""
    tags = run.tags("user", "results")
    assert len(set(tags)) == 7
    users = [message["content"] for message in run.request.messages if message["role"] == "user"]
    ends = [content if isinstance(content, str) else content[-1]["content"] for content in users]
    assert [text.rpartition("\n")[2] for text in ends] == [f"[id:{tag}]" for tag in tags]
    assert [message for message in run.request.messages if message["role"] == "assistant"] == talk.messages[1::2]
    assert [tool["name"] for tool in run.request.tools] == ["snip"]


def test_a_result_takes_its_round(run: Any, talk: Any) -> None:
    """All calls of the round go with their results, parallel ones too, and the text says how much and when."""
    size = run.session.view.tokens
    text, error = run.snip(run.tags("results")[0], reason="read enough")
    assert not error
    assert text.startswith("It will leave the context with the next request: about ")
    talk.round(read(7, "ok"))
    made = run(talk)
    assert [message["content"] for message in made if message["role"] == "assistant"] == [
        message["content"] for message in talk.messages[3::2]
    ]
    new = list(run.session.view)[-2:]
    grown = run.session.view.context.meter.factor * sum(item.tokens for item in new)
    assert run.session.view.tokens == pytest.approx(size - told(text) + grown, abs=1)
    [decision] = run.request.report.decisions
    assert (decision.free, decision.reason) == (False, "the model asked for it: read enough")
    assert decision.freed == pytest.approx(told(text), abs=1)


def test_a_user_text_takes_its_turn(run: Any, talk: Any) -> None:
    """The user's message goes with all that was done for it."""
    run.snip(run.tags("user")[0])
    talk.round(read(7))
    assert run(talk)[0]["content"].startswith("Now the tests.")
    assert len(run.request.messages) == len(talk.messages) - 6


def test_several_at_once(run: Any, talk: Any) -> None:
    """Ids are counted as given; what is inside a turn that goes too counts once, and goes once."""
    user, (first, second, *_) = run.tags("user")[0], run.tags("results")
    view = run.session.view
    turn = view.tokens_after(0) - view.tokens_after(6)
    text, error = run.snip(user, first, f"[id:{second}]")
    assert not error
    assert text.startswith("All 3 will leave")
    assert told(text) == pytest.approx(turn, abs=1)
    talk.round(read(7))
    assert len(run(talk)) == len(talk.messages) - 6
    assert len(run.request.report.decisions) == 1


def test_some_of_them(run: Any) -> None:
    """How many of how many were accepted, why the others were not, and what would go instead."""
    open_turn = run.tags("user")[1]
    first, _, third, fourth, newest = run.tags("results")
    text, error = run.snip("123456", open_turn, first, newest)
    assert not error
    assert text.splitlines()[0].startswith("Of 4 ids 1 accepted. This will leave the context with the next request: ")
    assert text.splitlines()[1:4] == [
        "123456: no message in the context ends with this tag; it may have gone already.",
        f"{open_turn}: it is what the user wants now; of this turn only rounds can go, by the tags of their results.",
        f"{newest}: it holds the newest results; ask again after your next step.",
    ]
    assert text.splitlines()[4].startswith("These would go: ")
    assert f"{third} (Read, about 1," in text
    assert f"{fourth} (Read, about 1," in text
    assert first not in text
    assert run.snip(newest, "nonsense")[1], "nothing of it is accepted"


def test_nothing_named(run: Any) -> None:
    """Without a list of tags the error says what one looks like."""
    rows = len(run.session.ledger.decisions)
    for given in ({}, {"ids": []}, {"ids": [7]}, {"ids": None}):
        result = run.session.call_tool({"type": "tool_use", "id": "x", "name": "snip", "input": given})
        assert result["is_error"]
        assert result["content"].startswith('ids must be a list of tags, such as {"ids": ["1a2b3c"]}')
    assert len(run.session.ledger.decisions) == rows


def test_other_tools_are_not_ours(run: Any) -> None:
    """A call of the agent's own tool is left to the agent."""
    assert run.session.call_tool({"type": "tool_use", "id": "x", "name": "Read", "input": {}}) is None


def test_two_messages_with_one_tag(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag that two messages have names none of them."""
    first, second, *_ = run.tags("results")
    both = [*run.session.view.tagged(first), *run.session.view.tagged(second)]
    monkeypatch.setattr("trimtab.view.View.tagged", lambda view, tag: both)
    text, error = run.snip(first)
    assert error
    assert f"{first}: several messages end with this tag" in text


def test_pinned(modelled: Any, talk: Any) -> None:
    """A round or a turn with a pin stays, and is not among those that would go."""

    class PinTwo(Hook):
        name: ClassVar[str] = "pin-two"

        @hookimpl
        def pre_compact(self, view: Any) -> Iterator[Pin]:
            yield Pin("two to keep", "asked for")

    run = modelled(hooks=(PinTwo,))
    run(talk)
    talk.round(read(1))
    talk.round(read(2, "two to keep\n" + TEXT))
    says(talk, "And now?")
    for n in (3, 4, 5):
        talk.round(read(n))
    run(talk)
    run.snip(run.tags("results")[0])
    talk.round(read(6))
    run(talk)
    assert len(run.session.view.pins) == 1
    first, second = run.tags("user")[0], run.tags("results")[0]
    text, error = run.snip(first, second)
    assert error
    assert f"{first}, {second}: it is pinned." in text
    assert "These would go: " in text


def test_pinned_later(modelled: Any, talk: Any) -> None:
    """What is pinned between the model's call and its going stays."""

    class PinNow(Hook):
        name: ClassVar[str] = "pin-now"

        @hookimpl
        def pre_compact(self, view: Any) -> Iterator[Pin]:
            yield Pin("line 3 of", "asked for")

    run = modelled(hooks=(PinNow,))
    run(talk)
    for n in (1, 2, 3):
        talk.round(read(n, TEXT if n == 1 else "ok"))
    run(talk)
    assert run.session.view.pins == []
    assert not run.snip(run.tags("results")[0])[1]
    talk.round(read(4))
    for _ in range(2):
        assert len(run(talk)) == len(talk.messages)
    assert len(run.session.view.pins) == 1


def test_restored(run: Any, talk: Any) -> None:
    """What the user brought back stays, also in a manual pass, and the model is told so."""
    tag = run.tags("results")[0]
    run.snip(tag)
    talk.round(read(7))
    run(talk)
    gone = run.request.report.decisions[-1]
    assert run.snip(tag)[0].startswith(f"Nothing will go.\n{tag}: no message in the context ends with this tag")
    run.session.restore(gone)
    talk.round(read(8))
    assert len(run(talk)) == len(talk.messages)
    text, error = run.snip(tag)
    assert error
    assert f"{tag}: the user brought it back." in text
    assert len(run.session.compact(talk.messages).messages) == len(talk.messages)


def test_asked_twice(run: Any, talk: Any) -> None:
    """What waits to go is not accepted again, and not named as what would go."""
    tag = run.tags("results")[0]
    run.snip(tag)
    text, error = run.snip(tag)
    assert error
    assert text.splitlines()[1] == f"{tag}: it was asked for already and goes with the next request."
    assert tag not in text.splitlines()[2]


def test_it_waits_for_its_when(modelled: Any, talk: Any) -> None:
    """The stage's `when` decides; the text says what it waits for, and a new process goes on waiting."""
    run = modelled(when=[{"over": 12_000}, "cold", {"idle": "60m"}], warm="refuse", target=1_000)
    run(talk)
    for n in range(4):
        talk.round(read(n))
    run(talk)
    text, _ = run.snip(run.tags("results")[0])
    assert (
        "when the context has grown to 12,000 tokens or when the provider's cache has expired or after a pause of 60 "
        "minutes"
    ) in text
    run.session = run.again()
    run.now += 10
    talk.round(read(4))
    assert len(run(talk)) == len(talk.messages)
    run.now += 1_000
    assert len(run(talk)) == len(talk.messages) - 2


def test_full_enough_already(modelled: Any, new_talk: Any) -> None:
    """Where `over` is open now, it goes with the next request; `pays` says what it waits for."""
    found = {"with the next request": [{"over": 3_000}], "as soon as that saves more than it costs": ["pays"]}
    for words, when in found.items():
        run, talk = modelled(when=when, warm="refuse"), new_talk()
        run(talk)
        for n in range(4):
            talk.round(read(n))
        run(talk)
        assert words in run.snip(run.tags("results")[0])[0]


def test_a_fold_that_stands_for_a_part_of_the_turn(modelled: Any, talk: Any) -> None:
    """What another stage folded out of a turn goes with the turn."""
    pytest.importorskip("trimtab_context_collapse")
    stages = [
        {"context-collapse": {"when": "always", "warm": "allow", "rounds": 1, "age": 4, "cold_age": 4}},
        {"snip": {"mode": "model", "when": "always", "warm": "allow"}},
    ]
    run = modelled(profile={"stages": stages})
    run(talk)
    for n in range(6):
        talk.round(read(n))
        run(talk)
    says(talk, "Next.")
    talk.round(read(7))
    run(talk)
    assert any(item.fold for item in run.session.view)
    shown = run.tags("results")
    text, error = run.snip(run.tags("user")[0])
    assert not error, text
    run(talk)
    assert [item.fold for item in run.session.view if item.fold] == []
    assert run.tags("results") == shown[-1:]


def test_a_turn_with_a_system_message(modelled: Any, talk: Any) -> None:
    """What the kernel's rules keep stays, and the rule is told."""
    run = modelled()
    run(talk)
    talk.round(read(1))
    talk.messages.append({"role": "system", "content": "Be brief."})
    talk.round(read(2))
    says(talk, "Next.")
    talk.round(read(3))
    run(talk)
    tag = run.tags("user")[0]
    text, error = run.snip(tag)
    assert error
    assert f"{tag}: it cannot go by itself: system message." in text


def test_results_without_a_call(modelled: Any, new_talk: Any) -> None:
    """What a conversation begins with in the middle of a round has no round to go with."""
    talk = new_talk()
    talk.messages = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "lost", "content": TEXT}]}]
    run = modelled()
    run(talk)
    for n in (1, 2):
        talk.round(read(n))
    run(talk)
    tag = run.tags("results")[0]
    text, error = run.snip(tag)
    assert error
    assert f"{tag}: the call that it answers is not part of this conversation." in text


def test_newest_first(modelled: Any, talk: Any) -> None:
    """Where a target ends the pass, what lies nearest to the end goes, and the rest waits."""
    run = modelled(when={"over": 8_000}, target=9_000, warm="refuse")
    run(talk)
    for n in range(4):
        talk.round(read(n))
    run(talk)
    run.snip(*run.tags("results")[:2])
    talk.round(read(5))
    made = run(talk)
    assert made[1] == talk.messages[1]
    assert made[3] == talk.messages[5]


def test_the_reason_is_kept(run: Any, talk: Any) -> None:
    """Up to 200 characters of it, and no half of one."""
    run.snip(run.tags("results")[0], reason="\ud83d" + "x" * 300)
    talk.round(read(7))
    run(talk)
    assert run.request.report.decisions[0].reason == "the model asked for it: \ufffd" + "x" * 199
    run.snip(run.tags("results")[1], reason=["no text"])
    talk.round(read(8))
    run(talk)
    assert run.request.report.decisions[0].reason == "the model asked for it"


def test_without_stage_tools_nothing_happens(opened: Any, talk: Any) -> None:
    """No tags, no tool, no reminder."""
    run = opened(mode="model", nudge=1)
    for n in range(4):
        talk.round(read(n))
    assert run(talk) == talk.messages
    assert run.request.tools is None
    assert run.request.report.decisions == []


def test_no_longer_with_stage_tools(run: Any, talk: Any) -> None:
    """What another process noted waits where the tool is not offered."""
    run.snip(run.tags("results")[0])
    run.stage_tools = False
    run.session = run.again()
    talk.round(read(7))
    assert len(run(talk)) == len(talk.messages)
    run.stage_tools = True
    run.session = run.again()
    assert len(run(talk)) == len(talk.messages) - 2


def test_without_a_when_nothing_is_offered(modelled: Any, talk: Any) -> None:
    """Nothing could ever go, so the model is not led to believe that it could."""
    run = modelled(when=[], warm="refuse")
    talk.round(read(1))
    assert run(talk) == talk.messages
    assert not run.request.tools


def test_the_originals_are_stored(run: Any, talk: Any) -> None:
    """Each message that goes is in the blob store before it goes."""
    tag = run.tags("results")[0]
    [item] = run.session.view.tagged(tag)
    run.snip(tag)
    talk.round(read(7))
    run(talk)
    kept = run.session.ledger.original(item.id)
    assert kept is not None
    assert kept[1] == talk.messages[2]
