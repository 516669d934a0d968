"""What the provider does for us: results deleted from its cache, parameters of the request (R14)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from play import Play, bare, edits, raw, shown, talk, why
from stages import FoldOld, KeepWords
from trimtab import Evict, Param, Stage
from trimtab.dialects.anthropic.cache_edits import without_edits

HEADER = "cache-editing-2026-01-01"
ON = {"cache_edits": HEADER, "context_management": True}


class RefusedError(Exception):
    """A 400."""

    status_code = 400


class Oldest(Stage):
    """Evicts all results but the newest two; asks the provider to clear by itself."""

    name = "oldest"

    def propose(self, view: Any) -> Iterator[Any]:
        """Free edits."""
        yield Param("context_management", {"trigger": 100_000, "keep": 3})
        for one in view.results[:-2]:
            if not one.evicted and not one.replaced:
                yield Evict(one, f"[{one.tool}: deleted]", "old")


def play(**more: Any) -> Play:
    """A session whose provider has both features."""
    return Play(Oldest, FoldOld, **{"stages": ["oldest"], "provider": ON, **more})


def grow(one: Play, count: int, start: int = 1) -> Any:
    """Requests one by one; the last."""
    request = None
    for n in range(start, count + 1):
        request = one.send(talk(n))
    return request


def blocks(request: Any, type: str) -> list[Any]:
    """All blocks of one type."""
    return [block for message in request.messages for block in message["content"] if block["type"] == type]


def deleted(request: Any) -> dict[str, int]:
    """The calls whose results are deleted, each once, to the message that says so."""
    found = [
        (edit["cache_reference"], index)
        for index, message in enumerate(request.messages)
        for block in message["content"]
        if block["type"] == "cache_edits"
        for edit in block["edits"]
    ]
    assert len(dict(found)) == len(found)
    return dict(found)


def test_nothing_is_emitted_without_the_feature() -> None:
    """Off: refused as unknown to the provider, no trace in the request."""
    one = play(provider={})
    request = grow(one, 5)
    assert set(why(request, "oldest")) == {
        "the provider has no context_management",
        "the provider deletes nothing from its cache",
    }
    assert request.extra == {}
    assert "cache_" not in raw(request)


def test_evicted_results_weigh_nothing_and_say_the_same() -> None:
    """The messages stay byte for byte but for what asks for the deletion; the size goes down at once."""
    one, off = play(), play(provider={})
    for n in range(1, 8):
        with_edits, without = one.send(talk(n)), off.send(talk(n))
        assert bare([without_edits(message) for message in with_edits.messages]) == bare(without.messages)
    assert with_edits.report.tokens_after < without.report.tokens_after - 2_000
    assert HEADER in with_edits.extra["betas"]
    assert with_edits.extra["context_management"]["edits"][0]["type"] == "clear_tool_uses_20250919"


def test_a_deletion_stays_where_it_was_first_sent() -> None:
    """Sent again for ever at the same message; each id once."""
    one = play()
    places: dict[str, int] = {}
    for n in range(1, 20):
        request = one.send(talk(n))
        for id, index in deleted(request).items():
            assert places.setdefault(id, index) == index
    assert len(places) > 10


def test_what_is_not_in_the_cache_is_not_evicted() -> None:
    """All of a cold conversation stays."""
    one = play()
    one.send(talk(4))
    one.now += 3_600
    assert why(one.send(talk(5)), "oldest")["not in the cache"] > 0


def test_when_the_cache_is_cold_placeholders_stand_there() -> None:
    """Nothing is left to delete from: in the same pass each evicted result becomes its placeholder."""
    one = play()
    grow(one, 6)
    assert edits(one, "evict")
    request = one.cold(talk(7))
    assert "cache_edits" not in raw(request)
    assert shown(request).count("[Read: deleted]") == len(edits(one, "evict"))


def test_a_refused_feature_is_given_up() -> None:
    """The 400 names it: noted, the same request again without, evictions as placeholders; also after a restart."""
    one = play()
    before = grow(one, 6)
    request = one.session.recover(RefusedError("messages.3.content.1: Input tag 'cache_edits' is unknown"))
    assert "cache_edits" not in raw(request)
    assert "cache_reference" not in raw(request)
    assert "[Read: deleted]" in shown(request)
    assert HEADER not in request.extra.get("betas", ())
    assert "context_management" in request.extra
    one.again()
    assert "cache_" not in raw(grow(one, 9, 7))
    handed = one.send([*before.messages, *talk(12)[len(before.messages) :]])  # our own output, from before
    assert "cache_" not in str(handed.messages)
    again = one.session.recover(RefusedError("context_management: Extra inputs are not permitted"))
    assert again.extra == {}


def test_a_feature_that_is_off_cannot_be_refused() -> None:
    """The error is not ours, it comes back."""
    one = play(provider={})
    one.send(talk(3))
    error = RefusedError("context_management: Extra inputs are not permitted")
    with pytest.raises(RefusedError):
        one.session.recover(error)


def test_where_the_anchor_is_folded_the_deletion_moves_behind() -> None:
    """To the next user message; what was folded with its result is deleted no more."""
    one = play(stages=["oldest", {"fold-old": {"when": {"over": 900}, "keep": 6, "target": 10}}])
    for n in range(1, 12):
        request = one.send(talk(n))
        blocks = [
            (index, edit["cache_reference"])
            for index, message in enumerate(request.messages)
            for block in message["content"]
            if block["type"] == "cache_edits"
            for edit in block["edits"]
        ]
        there = {
            block["tool_use_id"]
            for message in request.messages
            for block in message["content"]
            if block["type"] == "tool_result"
        }
        assert {id for _, id in blocks} <= there
    assert edits(one, "fold")


def test_evictions_can_be_undone() -> None:
    """The deletion is no longer sent, the result weighs what it did, and it is not evicted again."""
    one = play()
    grow(one, 6)
    decision = edits(one, "evict")[0]["decision"]
    weight = one.session.view.tokens
    one.session.restore(decision)
    request = one.send(talk(6))
    assert not any(row["decision"] == decision and not row["undone"] for row in edits(one, "evict"))
    assert one.session.view.tokens > weight
    assert "c0" not in deleted(request)


def test_settings_are_recorded_once() -> None:
    """The same parameter again is no decision; another one is."""
    one = play()
    grow(one, 6)
    assert len(edits(one, "param")) == 1


def test_our_output_handed_back_changes_nothing() -> None:
    """A request with deletions in it is the same conversation."""
    one = play()
    request = grow(one, 8)
    assert raw(one.send(request.messages)) == raw(request)
    one.again()
    assert len(one.send(request.messages).messages) == len(request.messages)
    assert one.session.conversation.roots[1:] == []


def test_a_pinned_result_is_not_evicted() -> None:
    """What must stay visible is not deleted behind the model's back."""
    one = Play(Oldest, KeepWords, stages=["oldest"], provider=ON, hooks=[{"keep-words": {"words": "c0:"}}])
    request = grow(one, 6)
    assert "pinned" in why(request, "oldest")
