"""Where the provider deletes results from its cache: which are evicted and when, and what stands there afterwards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from play import LONG, Play, bare, edits, marked, says, shown, user, why
from stages import Budget, KeepWords
from trimtab import Fold, ProfileError, Stage
from trimtab_micro_compact import MicroCompact

CLEARED = "[Old tool result content cleared] "
OPTIONS = {"form": "cleared", "trigger": 10, "keep": 5}
TIME = {**OPTIONS, "when": ["cold", {"idle": "60m"}]}


IMPOSSIBLE = {
    "already evicted",
    "already replaced",
    "not in the cache",
    "the conversation does not end with a user message",
}
"""What the rules say of evictions that should not have been proposed."""


def agent(*stages: Any, plugins: Sequence[Any] = (), offered: bool = True, **more: Any) -> Play:
    """A session that evicts on a warm cache, and clears where it is cold."""
    listed = [*stages, {"micro-compact": TIME}]
    provider = {"cache_edits": offered, "window": 1_000_000}
    return Play(MicroCompact, *plugins, stages=listed, provider=provider, **more)


def turn(play: Play, messages: list[Any], **more: Any) -> Any:
    """One request, answered: the provider says that it read or wrote all of it. No eviction may have been refused."""
    request = play.send(messages, **more)
    assert IMPOSSIBLE.isdisjoint(why(request, "micro-compact"))
    total = int(play.session.view.tokens)
    usage = {"input_tokens": 0, "cache_read_input_tokens": total // 2, "output_tokens": 9}
    play.session.observe({"usage": {**usage, "cache_creation_input_tokens": total - total // 2}})
    return request


def blocks(request: Any) -> list[tuple[int, int, Any]]:
    """All content blocks with the positions of their message and in it."""
    messages = enumerate(request.messages)
    return [(at, n, b) for at, m in messages for n, b in enumerate(m["content"]) if isinstance(b, dict)]


def deleted(request: Any) -> dict[str, int]:
    """The calls whose results are deleted, each once, with the position of the message that says so."""
    found: dict[str, int] = {}
    for at, _, block in blocks(request):
        for edit in block.get("edits", ()) if block["type"] == "cache_edits" else ():
            assert edit["type"] == "delete"
            assert edit["cache_reference"] not in found
            found[edit["cache_reference"]] = at
    return found


def without(request: Any) -> str:
    """The bytes of a request less the deletions, what may have to follow them, and what makes results deletable."""
    made = bare(request.messages)
    for message in made:
        content = message["content"]
        for n in reversed([n for n, block in enumerate(content) if block["type"] == "cache_edits"]):
            filler = n + 1 < len(content) and content[n + 1]["type"] == "text" and len(content[n + 1]["text"]) == 1
            del content[n : n + 1 + filler]
        for block in content:
            block.pop("cache_reference", None)
    return json.dumps(made, sort_keys=True)


def placeholders(request: Any) -> int:
    """How many results are shown as cleared."""
    return shown(request).count(CLEARED)


def test_without_the_feature_nothing_of_it_is_emitted(grow: Any) -> None:
    """Over sixty rounds and a pause no request holds a deletion, a mark or a parameter."""
    play = agent(offered=False)
    for n in range(60):
        request = turn(play, grow(), later=3_600.0 if n == 30 else 5.0)
        assert "cache_" not in json.dumps(request.messages)
        assert request.extra == {}
    assert edits(play, "evict") == []
    assert placeholders(request) == 26


def test_200_turns(grow: Any) -> None:
    """Beside deletions and marks each request is what was handed in, and a deletion stays where it was first sent."""
    play, last = agent(), {}
    for _ in range(200):
        messages = grow()
        request = turn(play, [*messages[:-1], *marked(messages[-1:])])
        assert without(request) == json.dumps(messages, sort_keys=True)
        now = deleted(request)
        assert now.items() >= last.items()
        assert set(dict(list(now.items())[len(last) :]).values()) <= {len(messages) - 1}
        last = now
    evicted = [f"c{n}.0" for n in range(1, 2 * len(last), 2)]
    assert list(last) == evicted
    assert 190 <= len(last) <= 195
    assert len(edits(play, "evict")) == len(last)
    assert edits(play, "replace") == []


def test_deletions_lie_behind_what_they_delete(grow: Any) -> None:
    """Each names a result of an earlier message, which is marked; pinned to messages, not to positions."""
    play = agent()
    for _ in range(40):
        request = turn(play, grow())
        marks = {b["cache_reference"]: at for at, _, b in blocks(request) if b["type"] == "tool_result" and len(b) > 3}
        assert all(marks[call] < at for call, at in deleted(request).items())


def test_H22_the_edge_moves_in_batches(grow: Any) -> None:
    """More than ten results that could go: the oldest until five are left, six at once, nothing between."""
    play, counts = agent(), []
    for _ in range(40):
        counts.append(len(deleted(turn(play, grow()))))
    assert {b - a for a, b in pairwise(counts)} == {0, 6}
    assert counts[:12] == [0] * 11 + [6] or counts[:11] == [0] * 10 + [6]


def test_what_stays(opened: Any, talk: Any) -> None:
    """Short results, short errors, unknown and kept tools neither count nor go; in both forms."""
    for n in range(20):
        talk.round(("Read", {"file_path": f"/{n}"}, "short"))
        talk.round(("Bash", {"command": "x"}, LONG[:900]), is_error=True)
        talk.round(("mcp__x", {}, LONG))
        talk.round(("Grep", {"pattern": "x"}, LONG))
    provider = {"provider": {"cache_edits": True}}
    for form in ("cleared", "digest"):
        play = opened(form, more=provider, when=[], tools={"Grep": "keep"}, trigger=1, keep=0)
        for _ in range(3):
            turn(play, talk.rounds(1))
        assert edits(play) == []


def test_defaults(opened: Any, grow: Any) -> None:
    """Ten results beside those that are kept, by the same tools in both forms; what was evicted is no more proposed."""
    for form in ("cleared", "digest"):
        play = opened(form, more={"provider": {"cache_edits": True}}, when=[], age=100, cold_age=100)
        counts = [len(deleted(turn(play, grow()))) for _ in range(30)]
        assert {b - a for a, b in pairwise(counts)} == {0, 11}
        assert not play.session.view.results[0].replaced


def test_what_cannot_be_evicted_is_not_proposed(opened: Any, talk: Any) -> None:
    """Previews, results that lie behind what the cache holds, and all of them while an answer is begun."""
    play = opened(
        "cleared",
        (Budget,),
        more={"provider": {"cache_edits": True}},
        first=[{"budget": {"most": 500}}],
        when=[],
        tools={"Bash": "clear"},
        trigger=1,
        keep=0,
    )
    for _ in range(4):
        turn(play, talk.round(("Bash", {"command": "x"}, LONG)))
    for _ in range(4):
        talk.round(("Bash", {"command": "x"}, LONG[:490]))
    assert deleted(turn(play, talk.messages)) == {}
    assert deleted(turn(play, [*talk.messages, says("So")])) == {}
    assert len(deleted(turn(play, talk.rounds(1)))) == 4


def test_pinned_results_stay(talk: Any, grow: Any) -> None:
    """They neither go nor count, so that the edge does not move by one each request."""
    hooks = [{"keep-words": {"words": "never push", "whole": True}}]
    play = agent(plugins=[KeepWords], hooks=hooks)
    for _ in range(8):
        talk.round(("Bash", {"command": "x"}, f"never push {LONG}"))
        turn(play, talk.messages)
    counts = [len(edits(play, "evict")) for _ in range(24) if turn(play, grow())]
    assert {b - a for a, b in pairwise(counts)} == {0, 6}
    assert "never push" in shown(play.cold(talk.messages))


def test_H12_H19_a_pause_turns_evictions_into_what_was_recorded(grow: Any) -> None:
    """When the cache has lapsed, what was recorded stands there, whatever the options say by then, and stays."""
    play = agent()
    for _ in range(16):
        last = turn(play, grow())
    texts = [evict.text for evict in play.session.view.projection.state.evicts.values()]
    assert len(texts) == len(deleted(last)) == 6
    play.again(stages=[{"micro-compact": {**TIME, "keep": 12, "trigger": 30}}])
    turn(play, grow())
    request = play.cold(grow())
    assert (deleted(request), placeholders(request)) == ({}, 6)
    assert all(json.dumps(text)[1:-1] in shown(request) for text in texts)
    assert without(turn(play, grow())).startswith(without(request)[:-1])


def test_a_pause_clears_the_rest_too(grow: Any) -> None:
    """The time path goes on from where evictions ended: all but the newest five are cleared; later ones are evicted."""
    play = agent()
    for _ in range(16):
        turn(play, grow())
    assert placeholders(play.cold(grow())) == 12
    for _ in range(12):
        request = turn(play, grow())
    assert (len(deleted(request)), placeholders(request)) == (12, 12)


def test_a_new_process_repeats_the_deletions(grow: Any) -> None:
    """They are on record: the same bytes after a restart, deletions where they were."""
    play = agent()
    for _ in range(16):
        turn(play, grow())
    messages = grow()
    first = turn(play, messages)
    play.again()
    resumed = turn(play, messages)
    assert deleted(first)
    assert json.dumps(resumed.messages) == json.dumps(first.messages)


def test_a_rewind_leaves_no_deletion_behind(talk: Any, grow: Any) -> None:
    """On a path that lacks the message a deletion was sent with, nothing is deleted and all is shown."""
    play = agent()
    for _ in range(11):
        turn(play, grow())
    assert deleted(turn(play, grow()))
    request = turn(play, [*talk.messages[:15], says("Wait."), user("Go on.")])
    assert (deleted(request), placeholders(request)) == ({}, 0)


class FoldOnce(Stage):
    """Folds rounds ``first`` to ``end`` of the view when it is told to."""

    name = "fold-once"
    span: tuple[int, int] | None = None

    def propose(self, view: Any) -> Any:
        """One fold."""
        if FoldOnce.span is not None:
            first, end = FoldOnce.span
            FoldOnce.span = None
            yield Fold(view.rounds[first:end], "These rounds read files.")


@pytest.mark.parametrize("span", [(9, 13), (0, 3), (2, 12)])
def test_L11_a_hidden_anchor(grow: Any, span: tuple[int, int]) -> None:
    """A fold over the anchor, before it, or over results and anchor: each deletion still follows its result."""
    fold = {"fold-once": {"when": "always", "warm": "allow"}}
    play = agent(fold, plugins=[FoldOnce])
    for _ in range(14):
        before = turn(play, grow())
    assert len(deleted(before)) == 6
    FoldOnce.span = span
    last = None
    for _ in range(8):
        request = turn(play, grow())
        results = {b["tool_use_id"]: at for at, _, b in blocks(request) if b["type"] == "tool_result"}
        now = deleted(request)
        assert all(results[call] < at for call, at in now.items())
        whole = {b["tool_use_id"] for _, _, b in blocks(request) if b.get("content") == LONG}
        assert now.keys() <= whole
        if last is not None:
            assert now.items() >= {call: at for call, at in last.items() if call in now}.items()
        last = now
    assert "These rounds read files." in shown(request)


@pytest.mark.parametrize("field", ["cache_reference", "cache_edits"])
def test_a_refusal_ends_it(grow: Any, refused: Any, field: str) -> None:
    """The request is made once more without any of it: what was evicted is cleared, and then the time path goes on."""
    play = agent()
    for _ in range(16):
        last = turn(play, grow())
    gone = len(deleted(last))
    request = play.session.recover(refused(f"messages.2.content.0.{field}: Extra inputs are not permitted"))
    for _ in range(12):
        assert "cache_" not in json.dumps(request.messages)
        assert request.extra == {}
        assert placeholders(request) >= gone > 0
        request = turn(play, grow())
    before = placeholders(request)
    request = play.cold(grow())
    assert placeholders(request) == 29 - 5 > before
    play.again()
    assert "cache_" not in json.dumps(turn(play, grow()).messages)


def test_restore(grow: Any, talk: Any) -> None:
    """A decision that is undone deletes nothing any more; what came back stays, and does not count."""
    play = agent()
    for _ in range(16):
        turn(play, grow())
    (seq,) = {row["decision"] for row in edits(play, "evict")}
    play.session.restore(seq)
    assert deleted(turn(play, talk.messages)) == {}
    counts = []
    for n in range(40):
        request = (play.cold if n == 32 else partial(turn, play))(grow())
        counts.append(len(edits(play, "evict")))
        whole = {b["tool_use_id"] for _, _, b in blocks(request) if b.get("content") == LONG}
        assert {f"c{n}.0" for n in range(1, 13, 2)} <= whole - deleted(request).keys()
    assert {b - a for a, b in pairwise(counts)} == {0, 6}


def test_bad_options() -> None:
    """A trigger that is no more than what is kept would move the edge by one each request."""
    with pytest.raises(ProfileError, match=r"trigger \(5\) must be above keep \(5\)"):
        Play(MicroCompact, stages=[{"micro-compact": {"trigger": 5}}])
