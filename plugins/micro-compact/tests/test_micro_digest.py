"""``form: digest``: when, how long, and which names."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from play import LONG, says, user
from stages import Budget
from trimtab_micro_compact import MicroCompact

SHORTENED = "[Old tool result shortened] "


def digested(texts: list[Any]) -> list[bool]:
    """Which of some results are digests."""
    return [text.startswith(SHORTENED) for text in texts]


def test_a_digest(opened: Any, talk: Any, lines: Any, contents: Any, stored: Any) -> None:
    """Tool, size, path of the full text, names by line; a quarter of the text."""
    agent, text = opened("digest"), lines(100)
    talk.round(("Bash", {"command": "make"}, text))
    (made,) = contents(agent.send(talk.rounds(11)))
    first, title, *names = made.split("\n")
    assert first.startswith(f"{SHORTENED}Bash: 9,489 characters in 100 lines. Full text: blob:")
    assert (title, names[0], names[-1]) == ("Names by line:", "1: value_0", "100: value_99")
    assert len("\n".join(names)) <= len(text) / 4
    assert stored(agent, made) == text


def test_age(opened: Any, talk: Any, contents: Any) -> None:
    """What was sent with ten requests stays, with one more it goes; an unknown tool's results too."""
    agent = opened("digest")
    talk.round(("Read", {"file_path": "/a"}, LONG), ("Task", {"prompt": "x"}, LONG))
    agent.send(talk.messages)
    assert contents(agent.send(talk.rounds(10))) == [LONG, LONG]
    assert digested(contents(agent.send(talk.rounds(1)))) == [True, True]


def test_cold_age(opened: Any, talk: Any, contents: Any) -> None:
    """Where the cache has forgotten everything, three requests are enough; where it has not, they are not."""
    agent = opened("digest")
    for n in range(6):
        talk.round(("Read", {"file_path": f"/{n}"}, LONG))
        agent.send(talk.messages)
    assert digested(contents(agent.send(talk.messages))) == [False] * 6
    assert digested(contents(agent.cold(talk.messages))) == [True] * 2 + [False] * 4
    assert digested(contents(agent.send(talk.messages))) == [True] * 2 + [False] * 4


def test_what_stays(opened: Any, talk: Any, contents: Any) -> None:
    """Small results, short errors, and tools that are kept."""
    talk.round(("Bash", {"command": "x"}, LONG[:300]), ("Grep", {"pattern": "x"}, LONG))
    talk.round(("Bash", {"command": "x"}, LONG[:1_000]), is_error=True)
    talk.round(("Bash", {"command": "x"}, LONG), is_error=True)
    made = contents(opened("digest", age=0, tools={"Grep": "keep"}).send(talk.rounds(1)))
    assert digested(made) == [False, False, False, True]
    assert made[3].startswith(f"{SHORTENED}Bash failed: ")


def test_echoes_have_no_names(opened: Any, talk: Any, lines: Any, contents: Any) -> None:
    """What an editing tool answers only repeats the call: one line."""
    talk.round(("Edit", {"file_path": "/a"}, lines(30)))
    (made,) = contents(opened("digest", age=0).send(talk.rounds(1)))
    assert digested([made]) == [True]
    assert "\n" not in made


def test_names_shown_elsewhere_are_left_out(opened: Any, talk: Any, lines: Any, contents: Any) -> None:
    """A name that another part of the conversation shows costs nothing to lose here."""
    talk.round(("Bash", {"command": "x"}, lines(30)))
    talk.messages += [says("value_3 and value_4 look wrong"), user("go on")]
    (made,) = contents(opened("digest", age=0).send(talk.rounds(1)))
    assert {"value_2", "value_29"} <= set(re.findall(r"value_\d+", made))
    assert not {"value_3", "value_4"} & set(re.findall(r"value_\d+", made))


def test_names_of_several_survive_in_one(opened: Any, talk: Any, lines: Any, contents: Any) -> None:
    """Results that go together must not each leave a name to the others; the newest keeps it."""
    for _ in range(3):
        talk.round(("Bash", {"command": "x"}, lines(30)))
    made = contents(opened("digest", age=0).send(talk.rounds(1)))
    assert [len(set(re.findall(r"value_\d+", text))) for text in made] == [0, 0, 30]


def test_of_what_was_said(opened: Any, talk: Any, lines: Any, contents: Any, stored: Any) -> None:
    """A preview becomes a digest of the whole text; names that the preview did not show are in it."""
    agent = opened("digest", (Budget,), first=[{"budget": {"most": 2_000}}], age=0)
    talk.round(("Bash", {"command": "x"}, lines(40)))
    assert contents(agent.send(talk.messages))[0].startswith(lines(40)[:2_000])
    talk.messages += [says("value_30 looks wrong"), user("go on")]
    (made,) = contents(agent.send(talk.messages))
    assert stored(agent, made) == lines(40)
    assert set(re.findall(r"value_\d+", made)) == {f"value_{n}" for n in range(40) if n != 30}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["Read", "Bash", "Edit", "x"]), st.integers(1, 200)), min_size=1, max_size=6),
    st.floats(0.01, 0.99),
    st.integers(1, 4_000),
)
def test_sizes(opened: Any, contents: Any, results: list[tuple[str, int]], share: float, most: int) -> None:
    """A digest is at least a tenth shorter, and beside its line within ``share``; all of it within ``most``."""
    messages, before = [user("go")], []
    for n, (tool, count) in enumerate(results):
        before.append("\n".join(f"错 word_{n}_{line} and more" for line in range(count)))
        call = {"type": "tool_use", "id": f"c{n}", "name": tool, "input": {"file_path": "/a"}}
        messages += [says(call), user({"type": "tool_result", "tool_use_id": f"c{n}", "content": before[-1]})]
    messages += [says("done"), user("thanks")]
    made = contents(opened("digest", age=0, share=share, most=most).session.prepare(messages))
    for old, new in zip(before, made, strict=True):
        assert (new != old) == (len(old) > 300)
        if new != old:
            line, _, names = new.partition("\nNames by line:\n")
            assert len(new) <= 0.9 * len(old)
            assert len(names) <= share * len(old)
            assert len(new) <= max(most, len(line))


def test_results_dealt_with_cost_nothing(talk: Any, lines: Any, opened: Any) -> None:
    """Where 2,000 results were digested before, a look at the view takes less than 5 ms."""
    agent = opened("digest", more={"provider": {"window": 10_000_000}}, cold_age=10)
    for n in range(2_000):
        talk.round(("Bash", {"command": f"make {n}"}, lines(6, f"value{n}")))
    agent.session.prepare(talk.messages)
    stage, seconds = MicroCompact(agent.session.profile.stages[0].options), []
    assert sum(result.replaced for result in agent.session.view.results) == 1_989
    for _ in range(5):
        start = time.perf_counter()
        assert list(stage.propose(agent.session.view)) == []
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.005


@pytest.mark.parametrize("cold", [False, True])
def test_media_go_only_where_nothing_is_cached(opened: Any, talk: Any, contents: Any, cold: bool) -> None:
    """An image removed costs all messages behind the start; so it waits for a moment when none of them is held."""
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    agent = opened("digest", age=0, cold_age=0, tools={"Shot": "keep"})
    talk.round(("Read", {"file_path": "/a.png"}, [image]), ("Shot", {}, [image]))
    agent.send(talk.messages)
    made, kept = contents((agent.cold if cold else agent.send)(talk.rounds(1)))
    assert kept == [image]
    assert made == (
        f"{SHORTENED}Read: [image: https://example.org/a.png]. To see it, call Read again." if cold else [image]
    )
