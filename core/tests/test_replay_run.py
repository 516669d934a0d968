"""Whole replays of small recordings: what is charged, counted and noticed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trimtab import Hook, Profile, Replace, Stage, StageOptions, hookimpl, load
from trimtab.cache import Cache
from trimtab.counters.estimate import Estimate
from trimtab.dialect import Usage
from trimtab.edits import Pin
from trimtab.replay import Tally, replay
from trimtab.replay.report import row
from trimtab.replay.rewrites import Rewrites
from trimtab.replay.usage import reduced
from trimtab.report import Outcome, Report
from trimtab.transcripts import Recording, Request

LONG = "\n".join(f"line_{n} = compute_row({n})" for n in range(400))


class Chop(Stage):
    """Replaces every result of 1,000 characters and more but the newest, as soon as it may."""

    name: ClassVar[str] = "chop"

    class Options(StageOptions):
        """How many stay."""

        keep: int = 1

    def propose(self, view: Any) -> Iterator[Any]:
        """Oldest first."""
        results = list(view.results)
        for result in results[: len(results) - self.options.keep]:
            if not result.replaced and len(result.text) >= 1_000:
                yield Replace(result, f"cleared; full text: {view.stored(result.block)}")


class Fails(Stage):
    """Raises on every look."""

    name: ClassVar[str] = "fails"

    def propose(self, view: Any) -> Iterator[Any]:
        """Raise before the first proposal."""
        raise RuntimeError("no luck")
        yield


class PinResults(Hook):
    """Pins every result."""

    name: ClassVar[str] = "pin-results"

    @hookimpl
    def pre_compact(self, view: Any, trigger: Any) -> Iterator[Pin]:
        """All that the view lists."""
        yield from (Pin(result.block, "test") for result in view.results)


def profile(tmp_path: Path, *stages: Any, hooks: tuple[str, ...] = (), **provider: Any) -> Profile:
    """The minimal profile with these stages, a window of 200k and the estimating counter."""
    overrides = {
        "stages": list(stages),
        "hooks": list(hooks),
        "counter": "estimate",
        "provider": {"window": 200_000, **provider},
    }
    return load(
        "minimal", cwd=tmp_path, env={"HOME": str(tmp_path)}, overrides=overrides, plugins=[Chop, Fails, PinResults]
    )


def recording(steps: int, gap: float = 10.0, usage: bool = True) -> Recording:
    """Each step reads a long result; the n-th answer names line n of all. A token is three characters."""
    history: list[dict[str, Any]] = [{"role": "user", "content": "please read everything there is"}]
    requests = []
    size = 5_000
    for n in range(steps):
        call = {"type": "tool_use", "id": f"c{n}", "name": "Read", "input": {"file_path": f"src/part_{n}.py"}}
        answer = {"role": "assistant", "content": [{"type": "text", "text": f"so line_{n} then"}, call]}
        measured = {"input_tokens": 3, "cache_read_input_tokens": size - 3} if usage else None
        requests.append(Request(history, len(history), 1e9 + n * gap, measured, None, answer, 0, False))
        text = f"part {n}\n{LONG}"
        history += [
            answer,
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{n}", "content": text}]},
        ]
        size += len(text) // 3
    return Recording("small", "test", "anthropic", "small.jsonl", requests, records=len(history))


def figures(tally: Tally) -> Mapping[str, Any]:
    """The JSON row."""
    return row([tally], tally.session, tally.profile)


WARM = {"chop": {"when": "always", "warm": "allow"}}

# ------------------------------------------------------------------------- doing nothing


NOTHING = load(
    "minimal",
    cwd="/",
    env={"HOME": "/nowhere"},
    overrides={"counter": "estimate", "provider": {"window": 200_000}},
)
words = st.sampled_from(["load_rows", "src/rows.py", "4711 rows", '"quoted words"', "plain words", "é漢字", "x" * 3000])
said = st.lists(words, min_size=1, max_size=4).map(" ".join)
rounds = st.lists(
    st.tuples(said, said, st.booleans(), st.floats(0, 900), st.integers(0, 4_000)), min_size=1, max_size=8
)


@settings(max_examples=60, deadline=None)
@given(rounds, st.booleans())
def test_doing_nothing_changes_nothing(steps: list[Any], measured: bool) -> None:
    """A profile without stages: all is visible, the bill is the same to the last bit, nothing is rewritten."""
    history: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    requests, now, size = [], 1e9, 3_000
    for n, (answer, result, tool, gap, growth) in enumerate(steps):
        blocks: list[Any] = [{"type": "text", "text": answer}]
        reply: Any = result
        if tool:
            blocks.append({"type": "tool_use", "id": f"c{n}", "name": "Bash", "input": {"command": answer}})
            reply = [{"type": "tool_result", "tool_use_id": f"c{n}", "content": result}]
        message = {"role": "assistant", "content": blocks}
        now, size = now + gap, size + growth - 500
        usage = {"input_tokens": size, "output_tokens": 1} if measured else None
        requests.append(Request(history, len(history), now, usage, None, message, 0, False))
        history += [message, {"role": "user", "content": reply}]
    nothing = load(
        "minimal",
        cwd="/",
        env={"HOME": "/nowhere"},
        overrides={"counter": "estimate", "provider": {"window": 200_000}},
    )
    found = figures(
        replay(Recording("s", "test", "anthropic", "s", requests, records=len(history)), nothing, "minimal")
    )
    assert found["input_cost_after"] == found["refetch_cost_after"] == found["input_cost_before"]
    assert found["hit_rate_after"] == found["hit_rate_before"]
    assert (found["visible"], found["strictly_visible"], found["recoverable"]) == (1.0, 1.0, 1.0)
    assert not any(found[key] for key in found if key.startswith("rewrites") or key in ("exceptions", "pins_lost"))


# ------------------------------------------------------------------------- rewrites and cost


def test_H13_fewer_tokens_can_cost_more(tmp_path: Path) -> None:
    """Pruning a warm cache: the requests shrink, the bill grows, and both numbers are in the row."""
    late = {"chop": {"when": "always", "warm": "allow", "keep": 4}}
    found = figures(replay(recording(8), profile(tmp_path, late), "warm"))
    assert found["peak_tokens_after"] < found["peak_tokens_before"]
    assert found["input_cost_after"] > found["input_cost_before"]
    assert found["stages"]["chop"]["tokens_freed"] > 0
    assert found["stages"]["chop"]["tokens_rewritten"] > 0


def test_H16_rewrites_are_counted(tmp_path: Path) -> None:
    """A stage that prunes on every turn shows as many warm rewrites as turns that had something to prune."""
    found = figures(replay(recording(6), profile(tmp_path, WARM), "warm"))
    assert (found["rewrites_warm"], found["rewrites_cold"], found["rewrites_unexplained"]) == (4, 0, 0)
    assert found["stages"]["chop"]["fired"] == 4


def test_an_expired_cache_makes_rewrites_cold(tmp_path: Path) -> None:
    """The same edits with pauses longer than the time to live: nothing is lost by them, and the bill shrinks."""
    found = figures(replay(recording(6, gap=301.0), profile(tmp_path, {"chop": {"when": "cold"}}), "cold"))
    assert (found["rewrites_warm"], found["rewrites_cold"], found["rewrites_unexplained"]) == (0, 4, 0)
    assert found["input_cost_after"] < found["input_cost_before"]


def test_H20_a_write_is_no_hit(tmp_path: Path) -> None:
    """After pauses everything is written anew: the hit rate says 0, not that the cache was used."""
    found = figures(replay(recording(4, gap=301.0), profile(tmp_path), "minimal"))
    assert found["hit_rate_before"] == found["hit_rate_after"] == 0.0


def test_H25_bytes_decide_not_the_report() -> None:
    """A pass that says it broke nothing, but did, is an unexplained rewrite."""
    watch = Rewrites(Cache(300.0, 0))
    says_free = Report(decisions=[Outcome("stage", True, 1, 10.0, 0.0, False, "")])
    says_so = Report(decisions=[Outcome("stage", False, 1, 10.0, 0.0, False, "")])
    assert watch.look(0, ["h", "a", "b"], says_free, 0.0) is None
    assert watch.look(0, ["h", "a", "b", "c"], says_so, 1.0) is None
    assert watch.look(0, ["h", "x", "b", "c"], says_free, 2.0) == "unexplained"
    assert watch.look(0, ["h", "x", "b"], Report(), 3.0) == "unexplained"
    assert watch.look(1, ["h", "y"], Report(), 4.0) is None
    assert watch.look(0, ["h", "y", "b"], says_so, 5.0) == "cold"


def test_H31_a_peak_is_one_request(tmp_path: Path) -> None:
    """The size is that of the largest request, never a sum over requests."""
    replayed = recording(5)
    found = figures(replay(replayed, profile(tmp_path), "minimal"))
    usage = replayed.requests[-1].usage
    assert usage is not None
    assert found["peak_tokens_before"] == found["peak_tokens_after"] == 3 + usage["cache_read_input_tokens"]


def test_H32_shown_and_deciding_sizes_agree(tmp_path: Path) -> None:
    """What the table shows lies within 2 % of what the kernel decided by, edits and all, once usage is known."""
    decided: list[float] = []
    factor = len(LONG) / 3 / Estimate()(LONG)
    tally = replay(
        recording(8),
        profile(tmp_path, WARM, factor=factor),
        "warm",
        sink=lambda i, prepared: decided.append(prepared.report.tokens_after),
    )
    assert sum(decided[1:]) == pytest.approx(tally.after.total - 5_000, rel=0.02)
    assert max(decided) == pytest.approx(tally.after.peak, rel=0.02)


def test_usage_of_a_smaller_request() -> None:
    """Each field loses what it held of the rest; what one cannot give, the next one does."""
    usage = Usage(read=1_000.0, written=300.0, fresh=5.0, output=7.0, model="m")
    assert reduced(usage, 200.0, 100.0) == Usage(800.0, 200.0, 5.0, 7.0, "m")
    assert reduced(usage, 0.0, 1_200.0).total == 105
    assert reduced(usage, 1_200.0, 0.0).total == 105
    assert reduced(Usage(0.0, 0.0, 500.0, 7.0, split=False), 100.0, 50.0) == Usage(0.0, 0.0, 350.0, 7.0, split=False)


# ------------------------------------------------------------------------- what stays


def test_what_was_cleared_is_missed_once_and_led_back_to(tmp_path: Path) -> None:
    """The newest result always shows what the answers name; with none kept, only the way back remains."""
    kept = figures(replay(recording(5), profile(tmp_path, WARM), "warm"))
    assert kept["visible"] == 1.0
    gone = {"chop": {"when": "always", "warm": "allow", "keep": 0}}
    found = figures(replay(recording(5), profile(tmp_path, gone), "warm"))
    assert found["visible"] < 1.0
    assert found["recoverable"] == 1.0
    assert found["refetch_cost_after"] > found["input_cost_after"]


def test_probed_pins_hold_and_are_counted(tmp_path: Path) -> None:
    """Pinned results are not replaced; a pin whose text is missing from a request is lost."""
    found = figures(replay(recording(5), profile(tmp_path, WARM, hooks=("pin-results",)), "pinned"))
    assert found["pins_lost"] == 0
    assert found["stages"]["chop"] == {"fired": 0, "tokens_freed": 0, "tokens_rewritten": 0, "refused": 6}


# ------------------------------------------------------------------------- trouble


def test_overflow_counts_as_over_the_window(tmp_path: Path) -> None:
    """A request that cannot be made small enough is no exception; it is charged as recorded."""
    found = figures(replay(recording(5), profile(tmp_path, window=13_500), "small"))
    assert found["exceptions"] == 0
    assert found["over_window_before"] == 2
    assert found["over_window_after"] == 3
    assert found["requests"] == 5
    assert found["input_cost_after"] == found["input_cost_before"]


def test_a_failing_stage_counts_and_the_rest_goes_on(tmp_path: Path) -> None:
    """What prepare only reports is an exception all the same, told once."""
    tally = replay(recording(5), profile(tmp_path, "fails", WARM), "fails")
    found = figures(tally)
    assert found["exceptions"] == 3  # then its breaker is open
    assert tally.failures == ["fails: RuntimeError: no luck"]
    assert found["rewrites_warm"] == 3


def test_without_usage_the_meter_decides(tmp_path: Path) -> None:
    """A recording without usage is priced by the counter and the model's factor."""
    one = figures(replay(recording(3, usage=False), profile(tmp_path, factor=1.0), "minimal"))
    two = figures(replay(recording(3, usage=False), profile(tmp_path, factor=2.0), "minimal"))
    assert two["peak_tokens_before"] == pytest.approx(2 * one["peak_tokens_before"], abs=1)
