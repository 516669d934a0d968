"""What is inserted, when and where, and that nothing else changes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trimtab import Ask
from trimtab.errors import AskFailed
from trimtab.testing import Scripted
from trimtab_relevant_memories import RelevantMemories

ASKS = "How does the deploy to staging work?"
NAMES = '{"names": ["deploy"]}'
HEAD = "[From a memory file, not from the user."


def framed(path: Path, name: str, text: str) -> str:
    """As a memory is shown that was written today."""
    return f"{HEAD}]\n<relevant-memory>\n{path} ({name}):\n{text}\n</relevant-memory>"


def test_by_words_at_once(opened: Any, talk: Any, deploy: Path, dialect: str) -> None:
    """Without a model the words in common decide before the first request of the turn; the memory stays as it is."""
    run, said = opened(None, dialect), talk(dialect).says(ASKS)
    told = [framed(deploy, "deploy", "Run make ship.")]
    assert run(said) == told
    assert "make ship" in str(run.messages[-1])
    before = run.messages
    for _ in range(3):
        assert run(said.works()) == told
        assert run.messages[: len(before)] == before
        before = run.messages


def test_unrelated(opened: Any, talk: Any, deploy: Path) -> None:
    """Usually there is none."""
    run = opened()
    assert run(talk().says("Rename the variable foo to bar in the parser.")) == []
    assert run.request.report.decisions == []


def test_by_a_model(opened: Any, talk: Any, deploy: Path, dialect: str) -> None:
    """A model is asked once a turn, behind the first answer; what it picks is in the next request, at the tail."""
    model = Scripted(NAMES)
    run, said = opened(model, dialect), talk(dialect).says(ASKS)
    assert run(said) == []
    [ask] = model.asked
    assert (ask.purpose, ask.most, ask.shared, ask.schema["required"]) == ("memories", 256, False, ["names"])
    assert '- "deploy": How a release gets to staging\n' in ask.prompt
    assert f"<said>\n{ASKS}\n</said>" in ask.prompt
    before = run.messages
    for _ in range(3):
        told = run(said.works())
        assert told == [framed(deploy, "deploy", "Run make ship.")]
        assert run.messages[: len(before)] == before
        before = run.messages
    assert len(model.asked) == 1
    assert run.session.view.notes("relevant-memories")["files"] == ["memories/deploy.md"]


def test_for_the_next_message(opened: Any, talk: Any, deploy: Path) -> None:
    """Where the turn ends with its first answer, what was picked comes with the user's next message."""
    run, said = opened(Scripted(NAMES, '{"names": []}')), talk().says(ASKS)
    run(said)
    assert len(run(said.says("And what about the parser of foo?"))) == 1
    assert "make ship" in str(run.messages[-1])


@pytest.mark.parametrize(
    ("answer", "files"),
    [
        ('Sure:\n```json\n{"names": ["test style", "deploy"]}\n```', ["memories/style.md", "memories/deploy.md"]),
        ('["deploy", "deploy"]', ["memories/deploy.md"]),
        ('{"names": ["passwd", 7, null, "deploy"]}', ["memories/deploy.md"]),
        ('{"names": "deploy"}', []),
        ('{"names": []}', []),
        ("deploy", []),
        ("[" * 50_000 + "]", []),
        ('{"names": ["../../etc/passwd"]}', []),
        ('{"names": ["migrations", "deploy", "test style"]}', ["memories/db.md", "memories/deploy.md"]),
    ],
)
def test_answers(opened: Any, talk: Any, deploy: Path, answer: str, files: list[str]) -> None:
    """Names of memories that were told, up to `count`, count; anything else is none."""
    run = opened(Scripted(answer), count=2)
    run(talk().says(ASKS))
    assert run.session.view.notes("relevant-memories")["files"] == files


@pytest.mark.parametrize("answer", [TimeoutError("down"), "", "I cannot help with that."])
def test_a_model_that_fails(opened: Any, talk: Any, deploy: Path, answer: Any) -> None:
    """Then the words in common decide, and the failure is reported."""
    run, said = opened(Scripted(answer)), talk().says(ASKS)
    run(said)
    assert len(run(said.works())) == 1
    assert "no answer" in run.request.report.warnings[0]


def test_one_word(opened: Any, talk: Any, deploy: Path) -> None:
    """A prompt of one word says nothing, neither to a model nor by itself."""
    for text in ("deploy", "继续", "deploy!", "…", ""):
        model = Scripted(NAMES)
        run, said = opened(model), talk().says(text)
        assert (run(said), run(said.works()), model.asked) == ([], [], [])
        assert opened()(talk().says(text)) == []


def test_each_message_of_the_user(opened: Any, talk: Any, deploy: Path) -> None:
    """Each is looked at once; what is shown as it is is not told to the model again."""
    model = Scripted(NAMES, '{"names": ["migrations"]}')
    run, said = opened(model), talk().says(ASKS)
    run(said)
    run(said.works())
    told = run(said.says("Now change the schema of the database.").works())
    assert len(told) == 1
    assert '"deploy"' not in model.asked[1].prompt
    assert len(run(said.works())) == 2


def test_changed(opened: Any, talk: Any, deploy: Path, write: Any) -> None:
    """A memory that says something else comes again when it is picked again; what was inserted stays."""
    run, said = opened(), talk().says(ASKS)
    first = run(said)
    assert run(said.says("Tell me again: deploy to staging?")) == first
    write("deploy.md", "Run make ship-it.", name="deploy")
    assert run(said.works()) == first
    told = run(said.says("Once more: how do I deploy to staging?"))
    assert told[:1] == first
    assert told[1] == framed(deploy, "deploy", "Run make ship-it.")


def test_behind_a_boundary(opened: Any, talk: Any, deploy: Path) -> None:
    """What a boundary hid may be picked again, for another message."""
    run, said = opened(), talk().says(ASKS)
    first = run(said)
    said.works(4)
    assert run(said, compact=True) == []
    assert run(said.works()) == []
    assert run(said.says("And the deploy to staging?")) == first


def test_enough(opened: Any, talk: Any, write: Any) -> None:
    """From 60 KB on that the request shows no more is picked, until a boundary hides them."""
    for n in range(80):
        write(f"deploy{n}.md", f"{n} " + "x" * 4_000, name=f"deploy {n}", description="How to deploy to staging")
    run, said, counts = opened(), talk().says(ASKS), []
    for _ in range(5):
        counts.append(len(run(said)))
        said.works().says(f"{ASKS} Again.")
    assert counts == [5, 10, 15, 15, 15]
    run(said.works(3), compact=True)
    assert len(run(said.says(f"{ASKS} Again."))) == 5


def test_age(opened: Any, talk: Any, write: Any) -> None:
    """What is older than a day says so, as of when it was inserted."""
    for n, days in enumerate((0.9, 1.1, 40)):
        write(f"{n}.md", "x", days, name=f"deploy {n}", description="staging")
    run, said = opened(), talk().says(ASKS)
    told = run(said)
    check = "ago; check before relying on it.]"
    heads = [text.partition("\n")[0].removeprefix(HEAD) for text in told]
    assert heads == ["]", f" Written 1 day {check}", f" Written 40 days {check}"]
    run.now += 1_000_000
    assert run.open()(said.works()) == told


def test_a_call_waits(opened: Any, talk: Any, deploy: Path) -> None:
    """While the tail cannot take it, it waits: until the results of all calls are there."""
    run, said = opened(Scripted(NAMES)), talk().says(ASKS)
    run(said)
    said.works()
    results = said.messages.pop()
    run.session.prepare(list(said.messages), system=said.wire.system)
    said.messages.append(results)
    assert len(run(said)) == 1


def test_no_room(opened: Any, talk: Any, write: Any) -> None:
    """A full window takes no memories, and nothing is noted as if it had."""
    write("deploy.md", "x " * 2_000, name="deploy", description="staging")
    run, said = opened(window=6_000), talk().says(ASKS + " word" * 3_500)
    assert run(said) == []
    assert run.session.view.notes("relevant-memories:inserted") is None


def test_restart_and_restore(opened: Any, talk: Any, deploy: Path, write: Any) -> None:
    """Another process sends the same, and picks no more for the same message; what the user took back stays away."""
    for n in range(7):
        write(f"more{n}.md", "x", name=f"deploy {n}", description="staging")
    run, said = opened(), talk().says(ASKS)
    assert len(run(said)) == 5
    before = run.messages
    run.open()(said)
    assert run.messages == before
    run.session.restore(run.session.ledger.decisions[-1].seq)
    assert run(said) == []
    assert run.open()(said) == []


def test_no_look_at_the_disk_once_decided(
    opened: Any, talk: Any, deploy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is looked at when the user has said something new, and for what is to be inserted; else never."""
    looks: list[Path] = []
    monkeypatch.setattr(RelevantMemories, "_scan", lambda stage: looks.append(stage.folder) or [])
    for model, text in [(None, ASKS), (Scripted('{"names": []}'), ASKS), (None, "Rename foo to bar, please.")]:
        run, said = opened(model), talk().says(text)
        run(said)
        run(said)
        assert len(looks) == 1
        for _ in range(3):
            run(said.works())
        assert len(looks) == 1
        looks.clear()


SAID = st.sampled_from([ASKS, "Change the database schema.", "go on", "unit tests"])
PICKS = st.lists(st.sampled_from([NAMES, '{"names":["test style"]}', "no"]))


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(st.tuples(SAID, st.integers(0, 3))), restarts=st.booleans(), picks=PICKS)
def test_only_the_tail(
    opened: Any, talk: Any, deploy: Path, dialect: str, turns: Any, restarts: bool, picks: list[str]
) -> None:
    """Whatever is said and picked: each request begins with the one before, and without memories is as without us."""

    def model(ask: Ask) -> str:
        if picks:
            return picks.pop()
        raise AskFailed("down")

    run, plain, said, before = opened(model, dialect), opened(None, dialect, listed=False), talk(dialect), []
    for text, rounds in turns:
        said.says(text)
        for _ in range(rounds + 1):
            inserted = run(said)
            plain(said)
            assert run.messages[: len(before)] == before
            assert [one for one in run.messages if HEAD not in str(one)] == plain.messages
            assert run.request.system == plain.request.system
            before = run.messages
            said.works()
            if restarts:
                run.open()
        assert len(inserted) == len(set(inserted))


def test_not_on_another_branch(opened: Any, talk: Any, deploy: Path) -> None:
    """What was picked for a message that the user took back comes to nothing."""
    run, said = opened(Scripted(NAMES, "[]")), talk().says("Rename foo to bar, please.").works()
    run(said)
    other = talk().says("Something else altogether, please.").works()
    assert run(other) == []
    assert [a == b for a, b in pairwise([run.messages, other.messages])] == [True]
