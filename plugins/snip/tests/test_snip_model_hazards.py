"""Known faults where a model says what goes: split batches, calls without results, and nothing done told as done."""

from __future__ import annotations

from typing import Any

import pytest

TEXT = "\n".join(f"line {n} of the file" for n in range(200))
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sig"}


def read(n: int) -> tuple[str, dict[str, str], str]:
    """A call that reads file ``n``."""
    return "Read", {"file_path": f"/{n}"}, TEXT


@pytest.fixture
def run(modelled: Any, talk: Any) -> Any:
    """A session after its first request; what is said from now on is tagged."""
    run = modelled()
    run(talk)
    return run


def test_H06_a_batch_goes_whole(run: Any, talk: Any) -> None:
    """Results of one batch in two messages have two tags; either takes all calls and all results."""
    talk.round(read(1), read(2), read(3))
    last = talk.messages.pop()
    talk.messages += [
        {"role": "user", "content": last["content"][:1]},
        {"role": "user", "content": last["content"][1:]},
    ]
    talk.round(read(4))
    run(talk)
    run.snip(run.tags("results")[1])
    talk.round(read(5))
    assert run(talk) == [run.request.messages[0], *run.request.messages[1:]]
    assert len(run.request.messages) == len(talk.messages) - 3
    assert "call_1_" not in str(run.request.messages)


def test_H06_the_users_words_beside_results(run: Any, talk: Any) -> None:
    """Where the user spoke in the message that holds results, neither goes, for the other stands there."""
    talk.round(read(1))
    talk.messages[-1]["content"].append({"type": "text", "text": "And hurry."})
    talk.round(read(2))
    talk.round(read(3))
    run(talk)
    text, error = run.snip(run.tags("mixed")[0])
    assert error
    assert "the user's own words stand in the same message as these results." in text


def test_H07_a_server_call_goes_with_its_result(run: Any, talk: Any) -> None:
    """What the provider searched for in a round goes with it, call and answer."""
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    talk.round(read(1), says=[call, answer])
    talk.round(read(2))
    run(talk)
    run.snip(run.tags("results")[0])
    talk.round(read(3))
    run(talk)
    assert "srvtoolu_1" not in str(run.request.messages)


def test_H08_a_call_that_waits_keeps_its_round(run: Any, talk: Any) -> None:
    """A batch of which a call has no result yet cannot go, in the newest round or in one before it."""
    talk.round(read(1), read(2))
    del talk.messages[-1]["content"][1]
    run(talk)
    tag = run.tags("results")[0]
    for _ in range(2):
        text, error = run.snip(tag)
        assert error
        assert f"{tag}: a call of its round still waits for its result." in text
        talk.round(read(3))
        run(talk)


def test_H08_the_call_of_the_tool_itself(run: Any, talk: Any) -> None:
    """What was accepted goes when the tool's own result is there, and that round stays."""
    for n in (1, 2):
        talk.round(read(n))
    run(talk)
    text, _ = run.snip(run.tags("results")[0])
    talk.round(("snip", {"ids": ["x"]}, text))
    made = run(talk)
    assert [message["content"][0]["name"] for message in made if message["role"] == "assistant"] == ["Read", "snip"]


def test_H11_what_went_goes_once(run: Any, talk: Any) -> None:
    """Later passes decide nothing more, and the bytes behind what went stay."""
    for n in range(4):
        talk.round(read(n))
    run(talk)
    run.snip(*run.tags("results")[:2])
    talk.round(read(4))
    before = run(talk)
    for n in range(5, 9):
        talk.round(read(n))
        made = run(talk)
        assert made[: len(before)] == before
        assert run.request.report.decisions == []
        before = made


def test_H12_H15_a_warm_prefix_is_left_alone(modelled: Any, talk: Any) -> None:
    """Behind `cold` all that was asked for one by one waits, and goes together when the cache has lapsed."""
    run = modelled(when="cold", warm="refuse")
    run(talk)
    sent = 0
    for n in range(6):
        talk.round(read(n))
        run.now += 10
        made = run(talk)
        assert len(made) == len(talk.messages)
        if n:
            assert not run.snip(run.tags("results")[n - 1])[1]
        sent = len(made)
    run.now += 1_000
    talk.round(read(9))
    assert len(run(talk)) == sent + 2 - 10
    assert [one.rewritten for one in run.request.report.decisions] == [0.0]


def test_H28_nothing_forgotten_is_no_success(run: Any, talk: Any) -> None:
    """Where no id is accepted the result is an error, nothing is recorded, and nothing is proposed."""
    talk.round(read(1))
    run(talk)
    rows = len(run.session.ledger.decisions)
    for ids in (["123456"], run.tags("results", "user")):
        text, error = run.snip(*ids)
        assert error
        assert text.startswith("Nothing will go.\n")
        assert text.endswith("Nothing else is worth it now: go on with the task.")
    assert len(run.session.ledger.decisions) == rows
    assert len(run(talk)) == len(talk.messages)


def test_H59_thinking_of_the_latest_answer_stays(modelled: Any, talk: Any) -> None:
    """On a model that binds thinking to its prefix a snip inside the open turn waits until the turn is over."""
    run = modelled(profile={"provider": {"prefix_bound": True, "window": 200_000}})
    run(talk)
    for n in (1, 2, 3):
        talk.round(read(n), says=[THOUGHT])
    run(talk)
    run.snip(run.tags("results")[0])
    talk.round(read(4), says=[THOUGHT])
    assert len(run(talk)) == len(talk.messages)
    assert "waits: thinking of the open turn is bound to it" in run.request.report.refused["snip"]
    talk.messages += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Next."}]
    assert len(run(talk)) == len(talk.messages) - 2


def test_H74_the_same_wish_is_stored_once(run: Any, talk: Any) -> None:
    """Asked twice, recorded once; and what has gone is forgotten with the next call."""
    for n in range(4):
        talk.round(read(n))
    run(talk)
    first, second, *_ = run.tags("results")
    run.snip(first)
    rows = len(run.session.ledger.decisions)
    run.snip(first)
    assert len(run.session.ledger.decisions) == rows
    talk.round(read(5))
    run(talk)
    run.snip(second)
    assert len(run.session.view.notes("snip:wanted")) == 1
