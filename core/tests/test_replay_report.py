"""Rows and totals: keys that never change, sums, weighted means, peaks."""

from __future__ import annotations

import json

from trimtab.provider import Price, Provider
from trimtab.replay.reader import Reading
from trimtab.replay.report import StageTally, Tally, document, row
from trimtab.replay.retention import Kept
from trimtab.replay.simulate import Bill

KEYS = [
    "session",
    "profile",
    "model",
    "requests",
    "exceptions",
    "invalid_requests",
    "pins_lost",
    "rewrites_warm",
    "rewrites_cold",
    "rewrites_unexplained",
    "peak_tokens_before",
    "peak_tokens_after",
    "over_window_before",
    "over_window_after",
    "input_cost_before",
    "input_cost_after",
    "refetch_cost_after",
    "strict_refetch_cost_after",
    "hit_rate_before",
    "hit_rate_after",
    "visible",
    "visible_worst_decile",
    "strictly_visible",
    "recoverable",
    "ms_p50",
    "ms_p99",
    "stages",
]
PROVIDER = Provider("m", True, 1000, 300.0, 10, 1, Price(10.0, 1.0, 12.5), False, 1.0)


def kept(anchors: int, visible: int) -> Kept:
    """A request of which so much is visible."""
    return Kept(anchors, visible, visible, anchors, frozenset(), frozenset())


def tally(session: str, profile: str = "p", *shares: Kept) -> Tally:
    """A session of one request, 100 tokens before and 50 after."""
    made = Tally(session, profile, "m", "facts", [], 1000, Bill(PROVIDER), Bill(PROVIDER), kept=list(shares))
    made.before.send("h", [Reading("a", "user", (), 0)], [10, 90], 0)
    made.after.send("h", [Reading("b", "user", (), 0)], [10, 40], 0)
    return made


def test_the_keys_are_those_of_the_contract() -> None:
    """Scripts read this: same keys, same order, with sessions and without, and all of it is JSON."""
    whole = json.loads(json.dumps(document([tally("s")])))
    assert list(whole) == ["sessions", "total"]
    assert [list(one) for one in (*whole["sessions"], whole["total"], document([])["total"])] == [KEYS] * 3
    made = tally("s")
    made.stages["trim"] = StageTally(1, 2.0, 3.0, 4)
    assert row([made], "s", "p")["stages"] == {
        "trim": {"fired": 1, "tokens_freed": 2.0, "tokens_rewritten": 3.0, "refused": 4}
    }


def test_counts_and_costs_are_summed_and_peaks_are_not() -> None:
    """Two sessions: twice the cost, the same peak; refetch is on top of the cost."""
    one, two = tally("s"), tally("t")
    one.refetch, two.strict_refetch = 1.0, 2.0
    one.stages, two.stages = {"trim": StageTally(1, 5.0)}, {"trim": StageTally(2, 6.0)}
    total = document([one, two])["total"]
    assert total["input_cost_before"] == 2 * 100 * 12.5 / 1e6
    assert total["input_cost_after"] == 2 * 50 * 12.5 / 1e6
    assert total["refetch_cost_after"] == total["input_cost_after"] + 1.0
    assert total["strict_refetch_cost_after"] == total["input_cost_after"] + 2.0
    assert (total["requests"], total["peak_tokens_before"], total["peak_tokens_after"]) == (2, 100, 50)
    assert total["stages"]["trim"] == {
        "fired": 3,
        "tokens_freed": 11.0,
        "tokens_rewritten": 0.0,
        "refused": 0,
    }


def test_shares_are_means_over_requests() -> None:
    """Each request counts alike, however many anchors it has and whichever session it is in."""
    one = tally("s", "p", kept(10, 10), *[kept(2, 2)] * 9)
    two = tally("t", "p", kept(80, 20))
    total = document([one, two])["total"]
    assert total["visible"] == (10 + 0.25) / 11
    assert total["visible_worst_decile"] == (0.25 + 1.0) / 2
    assert total["recoverable"] == 1.0


def test_nothing_to_miss_is_nothing_missed() -> None:
    """A session without anchors shows everything that was needed."""
    assert row([tally("s")], "s", "p")["visible"] == 1.0


def test_several_profiles_have_a_total_each() -> None:
    """The total over all rows keeps its keys and gains one."""
    total = document([tally("s", "p"), tally("s", "q")])["total"]
    assert list(total) == [*KEYS, "profiles"]
    assert {name: part["requests"] for name, part in total["profiles"].items()} == {"p": 1, "q": 1}


def test_percentiles_are_times_that_occurred() -> None:
    """Nearest rank: of 200 times p99 is the 198th."""
    made = tally("s")
    made.milliseconds = [float(n) for n in range(200, 0, -1)]
    assert (row([made], "s", "p")["ms_p50"], row([made], "s", "p")["ms_p99"]) == (100.0, 198.0)
