"""Mode ``model``: when the model is reminded that it can snip, and of what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from trimtab import Fold, Stage

TEXT = "\n".join(f"line {n} of the file" for n in range(200))
ABOUT = "[About your context, not from the user: it holds about "


def read(n: int, text: str = TEXT) -> tuple[str, dict[str, str], str]:
    """A call that reads file ``n``: about 2,000 tokens."""
    return "Read", {"file_path": f"/{n}"}, text


def reminders(messages: list[Any]) -> list[str]:
    """The texts of the reminders in a request."""
    said = [message["content"] for message in messages if message["role"] == "user"]
    texts = [one if isinstance(one, str) else one[0].get("text", "") for one in said]
    return [text for text in texts if text.startswith(ABOUT)]


def grown(run: Any, talk: Any, rounds: int, says: str = TEXT) -> list[int]:
    """So many rounds more, one request each; how many reminders each request holds."""
    counts = []
    for _ in range(rounds):
        talk.round(read(len(talk.messages), says))
        counts.append(len(reminders(run(talk))))
    return counts


def small(**more: Any) -> dict[str, Any]:
    """A window of 20k tokens, of which 18k are usable."""
    return {"provider": {"prefix_bound": False, "window": 20_000}, **more}


@pytest.fixture
def run(modelled: Any, talk: Any) -> Any:
    """A session that reminds each 3k tokens, after its first request."""
    run = modelled(profile=small(), nudge="3k")
    run(talk)
    return run


def test_reminded_as_it_grows(run: Any, talk: Any) -> None:
    """From half the window on, at once, and then each time that it has grown enough."""
    assert grown(run, talk, 8) == [0, 0, 0, 0, 1, 1, 2, 2]


def test_what_it_says(run: Any, talk: Any) -> None:
    """How big the context is, the tool, and the heaviest rounds by tag, with their tools and sizes; and it stays so."""
    talk.round(read(1, TEXT * 2))
    talk.round(("Bash", {"command": "ls"}, TEXT[:3_000]), *((f"tool{n}", {}, "ok") for n in range(4)))
    talk.round(("Bash", {"command": "pwd"}, "too small to be named"))
    run(talk)
    counts = grown(run, talk, 3)
    assert counts[-1] == 1
    [text] = reminders(run.request.messages)
    tags = run.tags("results")
    pattern = (
        re.escape(ABOUT)
        + r"(9,\d\d\d|1\d,\d\d\d) of 18,000 tokens\. What you no longer need can go by the tool snip, by tag\. "
        rf"The heaviest rounds: {tags[0]} \(Read, about 3,\d\d\d tokens\), .*, "
        rf"{tags[1]} \(Bash, tool0, tool1, 2 more, about 1,\d\d\d tokens\)\. "
        r"Keep what the task still needs; there is no need to answer this\.\]"
    )
    assert re.fullmatch(pattern, text), text
    assert tags[2] not in text
    assert tags[-1] not in text, "the newest round cannot go"
    grown(run, talk, 2)
    assert reminders(run.request.messages)[0] == text


def test_a_snip_is_no_time_for_a_reminder(modelled: Any, talk: Any) -> None:
    """What the model asked for starts the count anew, and is not named again while it waits."""
    run = modelled(profile=small(), nudge="3k", at_least="50k")
    run(talk)
    assert grown(run, talk, 6) == [0, 0, 0, 0, 1, 1]
    first, *_ = run.tags("results")
    assert first in reminders(run.request.messages)[0]
    run.snip(first)
    assert grown(run, talk, 2) == [1, 2]
    assert first not in reminders(run.request.messages)[1]


def test_a_boundary_is_no_time_for_a_reminder(modelled: Any, talk: Any) -> None:
    """Right behind a boundary the model is not reminded, whatever was kept; it is once the context has grown again."""

    class FoldMost(Stage):
        name: ClassVar[str] = "fold-most"

        def propose(self, view: Any) -> Iterator[Fold]:
            if view.tokens > 13_000 and not any(item.fold for item in view):
                yield Fold(view.messages[:5], "What was done.")

    always = {"when": "always", "warm": "allow"}
    stages = [{"fold-most": always}, {"snip": {"mode": "model", "nudge": "3k", **always}}]
    run = modelled(hooks=(FoldMost,), profile=small(stages=stages, hooks=[]))
    run(talk)
    made = []
    for _ in range(9):
        grown(run, talk, 1)
        made.append((str(run.request.messages[-1]).count(ABOUT), any(item.fold for item in run.session.view)))
    # growth since the reminder is 4k where the boundary is made
    assert made[4:] == [(1, False), (0, False), (0, True), (0, True), (1, True)]


def test_reminded_while_its_when_is_closed(modelled: Any, talk: Any) -> None:
    """A reminder is free: it does not wait for what opens the stage's `when`, as what was asked for does."""
    run = modelled(profile=small(stages=[{"snip": {"mode": "model", "when": {"over": "auto"}, "nudge": "3k"}}]))
    run(talk)
    assert grown(run, talk, 5)[-1] == 1
    first = run.tags("results")[0]
    run.snip(first)
    assert grown(run, talk, 2) == [1, 2]
    assert first not in reminders(run.request.messages)[1]
    assert len(run.request.messages) == len(talk.messages) + 2
    assert run.request.report.refused == {}


def test_never(modelled: Any, talk: Any) -> None:
    """``nudge: 0`` says never."""
    run = modelled(profile=small(), nudge=0)
    run(talk)
    assert grown(run, talk, 7) == [0] * 7


def test_nothing_to_snip(run: Any, talk: Any) -> None:
    """Where nothing could go there is nothing to remind of."""
    talk.round(read(1, TEXT * 6))
    assert reminders(run(talk)) == []
    assert run.session.view.tokens > 9_000


def test_not_behind_a_full_window(run: Any, talk: Any) -> None:
    """Where a reminder does not fit, none is noted, and no other promise is broken."""
    talk.round(read(1, TEXT * 2))
    run(talk)
    talk.round(read(2, TEXT * 6 + TEXT[:1_800]))
    assert reminders(run(talk)) == []
    assert run.request.report.refused == {"snip": {"no room": 1}}
    assert run.session.view.notes("snip:reminded") is None


def test_once_for_one_request(run: Any, talk: Any) -> None:
    """The same request again, and again from another process, is byte for byte the same."""
    while not reminders(run(talk)):
        talk.round(read(len(talk.messages)))
    made = list(run.request.messages)
    assert run(talk) == made
    run.session = run.again()
    assert run(talk) == made
    assert run.request.report.decisions == []
