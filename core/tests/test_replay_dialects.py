"""Replay asks the dialect: one session told in two wire formats measures alike, and is priced as what it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from trimtab import Profile, Replace, Stage, StageOptions, load
from trimtab.replay import Setup, Tally, replay
from trimtab.replay.report import row
from trimtab.replay.setup import files
from trimtab.transcripts import Recording, Request

TEXT = "\n".join(f"line_{n} = compute_row({n})" for n in range(300))
OTHER = TEXT.replace("line_", "rest_")
STEPS, GROWTH = 6, 9_000


class Halve(Stage):
    """Shows a stored path instead of every second result that it has not seen before."""

    name: ClassVar[str] = "halve"

    class Options(StageOptions):
        """None."""

    def propose(self, view: Any) -> Iterator[Any]:
        """What was not yet sent, and ends in an even number."""
        for result in view.results:
            if not result.sent and not result.replaced and result.text.endswith("0"):
                yield Replace(result, f"stored: {view.stored(result.block)}")


def profile(tmp_path: Path, **provider: Any) -> Profile:
    """One stage that edits what is new."""
    said = {"stages": ["halve"], "counter": "estimate", "provider": provider}
    return load("minimal", cwd=tmp_path, env={"HOME": str(tmp_path)}, overrides=said, plugins=[Halve])


def told(dialect: str, said: str, calls: Sequence[str], results: Sequence[str]) -> list[dict[str, Any]]:
    """An answer with calls of ``read``, and their results, as the dialect has them."""
    ids = [f"{said}-{path}" for path in calls]
    if dialect == "anthropic":
        used = [
            {"type": "tool_use", "id": id, "name": "read", "input": {"path": path}}
            for id, path in zip(ids, calls, strict=True)
        ]
        back = [
            {"type": "tool_result", "tool_use_id": id, "content": text} for id, text in zip(ids, results, strict=True)
        ]
        answer = {"role": "assistant", "content": [{"type": "text", "text": said}, *used]}
        return [answer, {"role": "user", "content": back}]
    functions = [
        {"id": id, "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": path})}}
        for id, path in zip(ids, calls, strict=True)
    ]
    answer = {"role": "assistant", "content": said, "tool_calls": functions}
    return [
        answer,
        *({"role": "tool", "tool_call_id": id, "content": text} for id, text in zip(ids, results, strict=True)),
    ]


def usage(dialect: str, read: int, written: int) -> dict[str, Any]:
    """Tokens as the dialect reports them."""
    if dialect == "anthropic":
        return {"input_tokens": 0, "cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    return {"prompt_tokens": read + written, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": read}}


def recording(dialect: str, model: str | None = None) -> Recording:
    """Each step reads two files at once, and names a line of a file of an earlier step."""
    history: list[dict[str, Any]] = [{"role": "user", "content": "please read everything there is"}]
    requests, size = [], 4_000
    for n in range(STEPS):
        paths = [f"src/part_{n}.py", f"src/rest_{n}.py"]
        made = told(dialect, f"see rest_{n} and src/part_{n - 2}.py", paths, [f"{n}\n{TEXT}\n1", f"{n}\n{OTHER}\n0"])
        written = GROWTH if n else 4_000
        measured = usage(dialect, size - written, written)
        requests.append(Request(history, len(history), 1e9 + 10 * n, measured, model, made[0], 0, False))
        history.extend(made)
        size += GROWTH
    return Recording("small", "test", dialect, "small.jsonl", requests, records=len(history))


def run(tmp_path: Path, made: Recording, setup: Setup | None = None, **provider: Any) -> Tally:
    """Replay under the profile of these tests."""
    return replay(made, (setup or Setup()).adapt(profile(tmp_path, **provider), made), "p")


def test_two_dialects_measure_alike(tmp_path: Path) -> None:
    """Cost, sizes, retention and what the stage did are the same, whatever the messages look like."""
    rows = []
    for dialect in ("anthropic", "openai"):
        tally = run(tmp_path, recording(dialect), Setup(model="claude-opus-4-5"))
        assert tally.failures == []
        rows.append(row([tally], "s", "p"))
    one, two = rows
    assert one["stages"]["halve"]["fired"] == two["stages"]["halve"]["fired"] == STEPS - 1
    assert one["exceptions"] == one["invalid_requests"] == one["rewrites_unexplained"] == 0
    assert 0 < one["strictly_visible"] <= one["visible"] < one["recoverable"] == 1.0
    for key in one.keys() - {"stages", "ms_p50", "ms_p99"}:
        same = one[key] if isinstance(one[key], str) else pytest.approx(one[key], rel=0.03)
        assert two[key] == same, key


def test_the_usage_of_any_dialect_corrects_the_session(tmp_path: Path) -> None:
    """What was recorded is handed on in the kernel's words: the meter's sizes are the recorded ones."""
    tally = run(tmp_path, recording("openai"))
    assert tally.before.peak == 4_000 + GROWTH * (STEPS - 1)
    assert tally.after.peak < tally.before.peak


def test_another_dialect_is_priced_as_recorded(tmp_path: Path) -> None:
    """A profile for one vendor says nothing of another's session: the model that answered counts, and it is said."""
    tally = run(tmp_path, recording("openai", "deepseek-chat"))
    assert tally.model == "deepseek-chat"
    assert tally.facts.startswith("model deepseek-chat, prices of our table of 2026-11-29; cache kept 7200 s")
    assert tally.window == 128_000
    assert tally.before.step == 64


def test_the_callers_model_counts(tmp_path: Path) -> None:
    """Whoever names a model gets it; the recorded one is told beside it."""
    tally = run(tmp_path, recording("openai", "deepseek-chat"), Setup(model="claude-opus-4-5"))
    assert tally.model == "claude-opus-4-5"
    assert "model claude-opus-4-5 (recorded: deepseek-chat)" in tally.facts


def test_the_profiles_model_counts_in_its_own_dialect(tmp_path: Path) -> None:
    """There the profile is the question asked: what would it cost with this model."""
    tally = run(tmp_path, recording("anthropic", "claude-haiku-4-5"))
    assert "model claude-opus-5-5 (recorded: claude-haiku-4-5)" in tally.facts
    assert tally.window == 200_000


def test_an_unknown_recorded_model_leaves_the_profiles(tmp_path: Path) -> None:
    """Without prices the recorded model is of no use."""
    assert run(tmp_path, recording("openai", "nobody-knows-1")).model == "claude-opus-5-5"


def test_prices_of_the_profile_are_told(tmp_path: Path) -> None:
    """The source of the prices is the profile where it states them."""
    price = {"input": 1, "output": 2, "cache_read": 0.1, "cache_write": 1, "cache_write_1h": 1}
    assert "prices of the profile" in run(tmp_path, recording("anthropic"), price=price).facts


def test_trajectories_are_found_in_folders(tmp_path: Path) -> None:
    """``.traj`` beside ``.json`` and ``.jsonl``; other files are left alone."""
    for name in ("a.traj", "b.json", "c.jsonl", "d.txt"):
        (tmp_path / name).touch()
    assert [file.name for file in files([tmp_path])] == ["a.traj", "b.json", "c.jsonl"]
