"""What is left to do when a request is too large, and who is kept away while this stage works."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from trimtab import ContextOverflow, Fold, Stage


class TooLongError(Exception):
    """As the API says it."""

    status_code = 400


ERROR = TooLongError("prompt is too long: 21000 tokens > 20000 maximum")


class Whole(Stage):
    """Summarises all but the latest round when a request was refused."""

    name: ClassVar[str] = "whole"
    seen: ClassVar[list[int]] = []

    def propose(self, view: Any) -> Any:
        """Nothing."""
        yield from ()

    def recover(self, view: Any, overflow: Any) -> Any:
        """A boundary."""
        self.seen.append(sum(item.fold is not None for item in view.messages))
        yield Fold(view.messages[:-2], "All of it.")


def waiting(asking: Any, talk: Any, model: Any, **more: Any) -> Any:
    """A session with three staged spans of which none is folded yet."""
    run = asking(model(), **{"when": "cold", "force_at": 1.0, **more})
    run.fill(talk, 0.9)
    run.answered()
    run(talk.work(1))
    return run


def test_commit_folds_all_that_is_staged(asking: Any, talk: Any, model: Any, notes: Any) -> None:
    """All three spans, once a request; what is refused again finds nothing more to fold."""
    run = waiting(asking, talk, model, target=0.1)
    request = run.session.recover(ERROR)
    assert len(notes(request.messages)) == 3
    with pytest.raises(ContextOverflow):
        run.session.recover(ERROR)
    assert len(run.session.ledger.decisions[-1].edits) < 3


def test_commit_ends_where_it_is_enough(asking: Any, talk: Any, model: Any, notes: Any) -> None:
    """The kernel stops at its target: the rest stays staged."""
    run = waiting(asking, talk, model, target=14_000)
    error = TooLongError("prompt is too long: 17000 tokens > 16500 maximum")
    assert len(notes(run.session.recover(error).messages)) == 2
    assert len(run.session.view.notes("context-collapse")) == 3


def test_restore_shows_what_was_said_to_the_next(asking: Any, talk: Any, model: Any, notes: Any) -> None:
    """Staged spans are given up and folds undone, also those inside others: the summariser reads messages."""
    Whole.seen.clear()
    stages = [{"context-collapse": {"writer": "model", "when": {"over": 0.9}, "drain": "restore"}}, "whole"]
    run = asking(model(), stages=(Whole,), profile={"stages": stages, "provider": {"window": 20_000}})
    run.fill(talk, 0.9)
    run.answered()
    assert len(notes(run(talk.work(1)))) == 1
    request = run.session.recover(ERROR)
    assert Whole.seen == [0]
    assert "All of it." in str(request.messages[0])
    assert run.session.view.notes("context-collapse") == []
    with pytest.raises(ContextOverflow):
        run.session.recover(ERROR)
    restores = [edit for one in run.session.ledger.decisions for edit in one.edits if edit.kind == "restore"]
    assert len(restores) == 1


def test_restore_happens_once_a_request(asking: Any, talk: Any, model: Any) -> None:
    """What is folded anew for the same request is not undone again, so that no two steps undo each other for ever."""
    run = asking(model(), drain="restore")
    run.fill(talk, 0.9)
    run.answered()
    run(talk.work(1))
    error = TooLongError("prompt is too long: 16900 tokens > 16800 maximum")
    with pytest.raises(ContextOverflow):
        run.session.recover(error)
    run.session.compact(talk.messages)
    assert any(item.fold for item in run.session.view.messages)
    with pytest.raises(ContextOverflow):
        run.session.recover(error)
    kinds = [edit.kind for one in run.session.ledger.decisions for edit in one.edits]
    assert kinds.count("restore") == 1


@pytest.mark.parametrize("drain", ["commit", "restore"])
def test_nothing_to_drain_is_no_decision(asking: Any, talk: Any, model: Any, drain: str) -> None:
    """Without staged spans and folds nothing is recorded in the stage's name."""
    run = asking(model(), drain=drain, when="cold")
    run(talk.work(9))
    with pytest.raises(ContextOverflow):
        run.session.recover(ERROR)
    assert [one for one in run.session.ledger.decisions if one.stage == "context-collapse"] == []


@pytest.mark.parametrize("writer", ["mechanical", "model"])
def test_only_the_model_prepares(asking: Any, talk: Any, model: Any, writer: str) -> None:
    """The mechanical writer, and the mode that has none, ask nobody and stage nothing."""
    ask = model()
    run = asking(ask, writer=writer, mode="stale-reads" if writer == "model" else "spans")
    run.fill(talk, 0.9)
    run.answered()
    assert ask.asked == []


@pytest.mark.parametrize(("unless", "boundaries"), [("context-collapse", 0), (None, 1)])
def test_auto_compact_is_kept_away(asking: Any, new_talk: Any, model: Any, unless: str | None, boundaries: int) -> None:
    """Listed with `unless: context-collapse` it does not win in between 90 and 95 %."""
    pytest.importorskip("trimtab_auto_compact")
    talk = new_talk()
    auto = {"when": {"over": "auto"}, "target": 0.5, "writer": "mechanical", **({"unless": unless} if unless else {})}
    stages = [{"context-collapse": {"writer": "model", "when": {"over": 0.95}}}, {"auto-compact": auto}]
    run = asking(model(), profile={"stages": stages})
    for _ in range(70):
        run(talk.work(1))
        run.answered()
        if run.session.view.tokens >= 0.93 * run.session.window.effective:
            break
    assert min(sum(one.boundary for one in run.session.ledger.decisions), 1) == boundaries
