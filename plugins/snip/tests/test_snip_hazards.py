"""Known faults of such stages: split batches, edits of warm prefixes, edges that move with every request."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

OLD = "\n".join(f"line {n} of the file as it was" for n in range(40))
TEXT = {"type": "text", "text": "I look at the file."}


def read(n: int, text: str = OLD) -> tuple[str, dict[str, str], str]:
    """A call that reads file ``n``."""
    return "Read", {"file_path": f"/{n}"}, text


def test_H06_of_a_batch_a_part_is_superseded(opened: Any, talk: Any) -> None:
    """A batch of parallel calls goes whole or not at all: until then results are shortened where they stand."""
    run = opened()
    talk.round(read(1), read(2), read(3))
    talk.round(read(2))
    made = run(talk)
    assert made[1] == talk.messages[1]
    assert [block["content"][:6] for block in made[2]["content"]] == ["line 0", "[Read:", "line 0"]
    talk.round(read(1), read(3))
    assert run(talk) == [talk.messages[0], *talk.messages[3:]]


def test_H06_the_same_call_twice_in_a_batch(opened: Any, talk: Any) -> None:
    """Of two equal calls in one batch the first is superseded, and the batch stays."""
    talk.round(read(1), read(1))
    talk.round(read(2))
    made = opened()(talk)
    assert [block["content"][:6] for block in made[2]["content"]] == ["[Read:", "line 0"]


def test_H07_a_round_with_a_server_call_stays(opened: Any, talk: Any) -> None:
    """What the provider searched for is part of its round, which stays for it."""
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    talk.round(read(1), says=[call, answer])
    talk.round(read(1))
    made = opened()(talk)
    assert made[1] == talk.messages[1]
    assert made[2]["content"][0]["content"].startswith("[Read:")


def test_H08_an_open_call_is_no_answer(opened: Any, talk: Any) -> None:
    """A call that still waits supersedes nothing, and the round it waits in stays."""
    talk.round(read(1))
    talk.round(read(1))
    talk.messages.pop()
    talk.messages.append({"role": "user", "content": "Stop."})
    assert any(block["content"] == OLD for block in opened()(talk)[2]["content"])


def test_H08_a_call_that_was_cut_off_keeps_its_round(opened: Any, talk: Any) -> None:
    """A batch in which one call never got its result stays, for nobody knows what that call did."""
    talk.round(read(1), ("Bash", {"command": "rm a"}, ""))
    del talk.messages[-1]["content"][1]
    talk.messages.append({"role": "user", "content": "Stop, and look again."})
    talk.round(read(1))
    assert opened()(talk)[1] == talk.messages[1]


def test_H11_nothing_fires_again(opened: Any, talk: Any) -> None:
    """What was decided stays decided; passes without a new repetition decide nothing, and bytes stay."""
    run = opened()
    talk.round(read(1), says=[TEXT])
    talk.round(read(1))
    before = run(talk)
    for n in range(2, 8):
        talk.round(read(n))
        made = run(talk)
        assert made[: len(before)] == before
        assert run.request.report.decisions == []
        before = made


def test_H12_a_warm_prefix_is_left_alone(opened: Any, talk: Any) -> None:
    """With the shipped `when` nothing happens while the cache holds the prefix; once it lapsed, all of it at once."""
    run = opened(when=["cold", {"over": "warn"}], warm="refuse")
    for n in (1, 2, 1, 2):
        talk.round(read(n))
        run.now += 10
        assert run(talk) == talk.messages
    run.now += 1_000
    talk.round(read(3))
    assert run(talk) == [talk.messages[0], *talk.messages[5:]]
    assert [one.rewritten for one in run.request.report.decisions] == [0.0]


def test_H15_without_a_when_nothing_is_edited(opened: Any, talk: Any) -> None:
    """Repetitions in what was not sent yet stay: this stage makes no free edits."""
    run = opened(when=[], warm="refuse")
    talk.round(read(1), read(1), read(1))
    assert run(talk) == talk.messages
    assert run.request.report.refused == {}


def test_H22_under_pressure_the_newest_go_first(opened: Any, talk: Any) -> None:
    """Where a target ends the pass, the prefix before the newest repetitions stays as the cache holds it."""
    for n in (*range(12), *range(12)):
        talk.round(read(n))
    run = opened(when=[], warm="refuse")
    run(talk)
    target = int(0.8 * run.session.view.tokens)
    run = opened(when={"over": 1_000}, target=target, warm="refuse")
    made = run(talk)
    kept = next(n for n, message in enumerate(talk.messages) if message is not made[n])
    assert kept > 9
    assert run.session.view.tokens <= target
    assert made[kept:] == talk.messages[25:]


def test_H59_thinking_of_the_latest_answer_stays(opened: Any, talk: Any) -> None:
    """The newest round is never touched, whatever it repeats."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    talk.round(read(1), says=[thought])
    talk.round(read(1), read(1), says=[thought])
    assert opened()(talk) == [talk.messages[0], *talk.messages[3:]]


def test_H74_the_same_reduction_is_made_once(opened: Any, talk: Any) -> None:
    """A second request with the same messages decides nothing."""
    run = opened()
    talk.round(read(1), read(2))
    talk.round(read(1))
    first = run(talk)
    assert len(run.request.report.decisions) == 1
    assert run(talk) == first
    assert run.request.report.decisions == []


calls = st.tuples(
    st.sampled_from(["Read", "Grep", "Bash", "Edit", "WebFetch"]), st.integers(0, 2), st.sampled_from([9, 400, 4_000])
)
rounds = st.lists(st.tuples(st.lists(calls, min_size=1, max_size=3), st.booleans(), st.booleans()), max_size=14)
KEYS = {"Read": "file_path", "Grep": "pattern", "Bash": "command", "Edit": "file_path", "WebFetch": "url"}


@pytest.mark.parametrize("by", ["input", "tool"])
@settings(max_examples=60, deadline=None)
@given(rounds)
def test_the_newest_of_each_kind_stays(opened: Any, new_talk: Any, by: str, drawn: Any) -> None:
    """No call without its result, every last answer and every edit as said, and nothing new on a second look."""
    run, talk = opened(by=by), new_talk()
    newest: dict[Any, str] = {}
    for made, says, error in drawn:
        batch = []
        for tool, which, size in made:
            value = f"cat f{which}" if tool == "Bash" else f"/f{which}"
            text = f"{len(talk.messages)}.{len(batch)} " + "x y " * (size // 4)
            batch.append((tool, {KEYS[tool]: value}, text))
            if not error:
                newest[tool if by == "tool" and tool != "Edit" else (tool, which)] = text
            if tool == "Edit":
                newest[len(talk.messages), len(batch)] = text
        talk.round(*batch, says=[TEXT] if says else [], error=error)
        request = run(talk)
        uses = [block["id"] for one in request[1:] for block in one["content"] if block["type"] == "tool_use"]
        results = [block for one in request[1:] for block in one["content"] if block["type"] == "tool_result"]
        assert uses == [block["tool_use_id"] for block in results]
        assert set(newest.values()) <= {block["content"] for block in results}
        assert [block["content"] for block in results][-len(batch) :] == [text for _, _, text in batch]
    assert run(talk) == run(talk)
    assert run.request.report.decisions == []
