"""Where the provider clears old results by itself: what it is told, once, and what happens when it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from play import Play, edits, says, shown, thinks, user
from trimtab import ProfileError
from trimtab_micro_compact import MicroCompact

NAMES = ["Write", "Task", "Bash", "mcp__shot__take", "Read", "Grep", "WebFetch"]
TIME = {"when": ["cold", {"idle": "60m"}]}


def agent(options: Any = None, **provider: Any) -> Play:
    """A session whose provider clears by itself, and that clears where the cache is cold."""
    facts = {"context_management": True, **provider}
    return Play(MicroCompact, stages=[{"micro-compact": {**TIME, **(options or {})}}], provider=facts)


def tools(*names: str) -> list[Any]:
    """Tools as a request offers them."""
    return [{"name": name, "description": "", "input_schema": {"type": "object"}} for name in names or NAMES]


def given(play: Play) -> Any:
    """The settings in force."""
    return play.session.view.projection.state.params.get("context_management")


def test_the_settings(grow: Any) -> None:
    """Sizes in tokens, the same newest results as elsewhere, tools by name and in order, whatever theirs is."""
    play = agent()
    play.send(grow(), tools=tools())
    assert given(play) == {
        "thinking": None,
        "trigger": 150_000,
        "keep": 5,
        "clear_at_least": 60_000,
        "exclude": ["Task", "mcp__shot__take"],
        "inputs": [],
    }
    play.send(grow(), tools=tools(*reversed(NAMES)))
    assert len(edits(play, "param")) == 1


def test_options(grow: Any) -> None:
    """Classes and single tools say what is cleared, as on the other paths; inputs go only of what is cleared."""
    server = {"trigger": "180k", "clear_at_least": "140k", "inputs": ["search", "shell", "edit"], "thinking": 2}
    options = {"classes": ["read", "search"], "tools": {"Bash": "clear"}, "keep": 3, "server": server}
    play = Play(
        MicroCompact,
        stages=[{"micro-compact": options}],
        provider={"context_management": True, "window": 1_000_000},
    )
    play.send([user("go"), says(thinks("Hm."), "Yes?"), user("on")], tools=tools())
    assert given(play) == {
        "thinking": 2,
        "trigger": 180_000,
        "keep": 3,
        "clear_at_least": 140_000,
        "exclude": ["Task", "WebFetch", "Write", "mcp__shot__take"],
        "inputs": ["Bash", "Grep"],
    }


@pytest.mark.parametrize("window", [20_000, 100_000, 200_000, 1_000_000])
def test_small_windows(grow: Any, window: int) -> None:
    """It begins below the size at which summaries are made; what it must clear keeps its share of that."""
    play = agent({"server": {"trigger": "180k", "clear_at_least": "140k"}}, window=window)
    play.send(grow(), tools=tools())
    settings = given(play)
    assert settings["trigger"] == min(180_000, int(0.9 * play.session.window.auto))
    assert settings["clear_at_least"] / settings["trigger"] == pytest.approx(140 / 180, abs=0.001)


def test_nothing_moves(grow: Any) -> None:
    """Over sixty rounds the parameter is the same, the messages are what was handed in, and nothing is decided."""
    play = agent()
    first = play.send(grow(), tools=tools())
    assert "context_management" in json.dumps(first.extra)
    for _ in range(60):
        messages = grow()
        request = play.send(messages, tools=tools())
        assert (request.messages, request.extra, request.report.decisions) == (messages, first.extra, [])
        assert request.report.refused.get("micro-compact", {}).get("already so") is None


def test_they_follow_the_tools_and_the_first_thought(grow: Any, talk: Any) -> None:
    """Another list of tools, and thinking where there was none, give new settings; each is recorded once."""
    play = agent()
    play.send(grow(), tools=tools())
    play.send(grow(), tools=tools("Read", "mcp__notes__add"))
    assert given(play)["exclude"] == ["mcp__notes__add"]
    talk.messages += [says(thinks("Hm."), "Yes?"), user("on")]
    for _ in range(3):
        play.send(grow(), tools=tools("Read", "mcp__notes__add"))
    assert given(play)["thinking"] == "all"
    assert len(edits(play, "param")) == 3


def test_a_new_process_says_the_same(grow: Any) -> None:
    """The parameter is on record: the next process adds nothing."""
    play = agent()
    first = play.send(grow(), tools=tools())
    play.again()
    request = play.send(grow(), tools=tools())
    assert (request.extra, len(edits(play, "param"))) == (first.extra, 1)


def test_the_time_path_runs_beside_it(grow: Any) -> None:
    """Where the cache has lapsed, clearing here is free as well."""
    play = agent()
    for _ in range(8):
        play.send(grow(), tools=tools())
    request = play.cold(grow(), tools=tools())
    assert shown(request).count("content cleared]") == 4
    assert request.extra


def test_without_it_nothing_is_asked_for(grow: Any) -> None:
    """A profile that does not switch it on, or a format that lacks it, gets no parameter."""
    for provider in ({"context_management": False}, {"kind": "openai"}):
        play = agent(**provider)
        request = play.session.prepare([{"role": "user", "content": "go"}])
        assert (request.extra, edits(play, "param")) == ({}, [])


@pytest.mark.parametrize("word", ["context_management: Extra inputs are not permitted", "`clear_thinking_20251015` …"])
def test_a_refusal_ends_it(grow: Any, refused: Any, word: str) -> None:
    """The request is made once more without it, and with it no more, also by another process; the time path runs."""
    play = agent()
    for _ in range(8):
        messages = grow()
        play.send(messages, tools=tools())
    request = play.session.recover(refused(word))
    assert (request.extra, request.messages) == ({}, messages)
    play.again()
    assert play.send(grow(), tools=tools()).extra == {}
    request = play.cold(grow(), tools=tools())
    assert (request.extra, shown(request).count("content cleared]")) == ({}, 5)
    assert len(edits(play, "param")) == 1


def test_deleting_from_the_cache_goes_first(grow: Any, refused: Any) -> None:
    """Where both are on offer nothing is left for the provider to choose; refused, it gives way to the other."""
    play = agent(cache_edits=True, window=1_000_000)
    for _ in range(20):
        request = play.send(grow(), tools=tools())
    assert "cache_reference" in json.dumps(request.messages)
    assert (edits(play, "param"), len(edits(play, "evict"))) == ([], 11)
    request = play.session.recover(refused("messages.2.content.0.cache_reference: Extra inputs not permitted"))
    assert "cache_reference" not in json.dumps(request.messages)
    assert given(play)["trigger"] == 150_000


def test_bad_options() -> None:
    """What must be cleared can never be as much as there is."""
    with pytest.raises(ProfileError, match=r"clear_at_least \(200,000\) must be below trigger \(150,000\)"):
        Play(MicroCompact, stages=[{"micro-compact": {"server": {"clear_at_least": "200k"}}}])
