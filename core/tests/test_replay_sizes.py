"""Sizes of recorded and shown messages."""

from __future__ import annotations

import pytest
from trimtab.replay.reader import Reading
from trimtab.replay.sizes import Recorded, shown_sizes


def reading(key: str, raw: int) -> Reading:
    """A message of so many counted tokens."""
    return Reading(key, "user", (), raw)


A, B, C, D = (reading(key, raw) for key, raw in (("a", 10), ("b", 20), ("c", 30), ("d", 60)))


def test_usage_is_spread_over_what_is_new() -> None:
    """The first request teaches the head; later growth belongs to the new messages, by their count."""
    recorded = Recorded()
    assert recorded.sizes("main", [A], 0, 115.0, 1.5) == [100, 15]
    assert recorded.sizes("main", [A, B, C], 0, 315.0, 1.5) == [100, 15, 80, 120]


def test_usage_that_falls_shrinks_everything() -> None:
    """Something was cleared without a record: nobody knows what, so all sizes keep their proportion."""
    recorded = Recorded()
    recorded.sizes("main", [A], 0, 110.0, 1.0)
    assert recorded.sizes("main", [A, B], 0, 65.0, 1.0) == [50, 5, 10]


def test_without_usage_the_meter_decides() -> None:
    """Counts times the factor, and the meter's word on the head."""
    recorded = Recorded()
    assert recorded.sizes("main", [A, B], 7, None, 2.0) == [7, 20, 40]
    assert recorded.sizes("main", [A, B, C], 7, None, 2.0) == [7, 20, 40, 60]


def test_first_usage_after_some_requests_teaches_the_head() -> None:
    """What the first measured request weighs more than counted is no message's."""
    recorded = Recorded()
    recorded.sizes("main", [A], 0, None, 2.0)
    assert recorded.sizes("main", [A, B], 0, 160.0, 2.0) == [100, 20, 40]


def test_a_branch_keeps_the_head() -> None:
    """Behind a boundary the head is as big as before; what else was put back goes with the summary."""
    recorded = Recorded()
    recorded.sizes("main", [A], 0, 110.0, 1.0)
    assert recorded.sizes("behind", [B, C], 0, 190.0, 1.0) == [100, 60, 30]


def test_a_branch_with_less_than_the_head() -> None:
    """A recording that starts in the middle shows most of its messages only as head; a boundary ends that."""
    recorded = Recorded()
    recorded.sizes("main", [A], 0, 5010.0, 1.0)
    assert recorded.sizes("behind", [B], 0, 120.0, 1.0) == [100, 20]


def test_counted_more_than_measured() -> None:
    """Usage wins over the meter in both directions."""
    assert Recorded().sizes("main", [A, C], 0, 20.0, 1.0) == [0, 5, 15]


def test_unchanged_messages_keep_their_sizes() -> None:
    """A request as recorded weighs what it weighed, to the last bit."""
    sizes = [100.1, 10.2, 20.3, 30.4]
    assert shown_sizes([A, B, C], sizes, [A, B, C], 1.3) == sizes


def test_a_changed_message_loses_the_metered_difference() -> None:
    """Factor times the difference in count comes off the recorded size."""
    small = reading("x", 5)
    assert shown_sizes([A, B, C], [100, 12, 45, 33], [A, small, C], 2.0) == [100, 12, 15, 33]


def test_a_run_shown_as_one() -> None:
    """One message for three: their sizes less the difference; a message behind keeps its own."""
    fold = reading("x", 20)
    assert shown_sizes([A, B, C, D], [100, 12, 22, 32, 60], [fold, D], 1.0) == [100, 26, 60]


def test_equal_messages_are_matched_in_order() -> None:
    """The same words said twice: the later one is not taken for the earlier."""
    assert shown_sizes([A, B, A, C], [0, 1, 2, 3, 4], [A, B, A, C], 1.0) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_added_message_has_its_counted_size(place: int) -> None:
    """What trimtab inserts replaces nothing."""
    shown = [A, B]
    shown.insert(place, D)
    expected = [10.0, 20.0]
    expected.insert(place, 120.0)
    assert shown_sizes([A, B], [5, 10, 20], shown, 2.0) == [5, *expected]


def test_nothing_weighs_less_than_nothing() -> None:
    """Where the meter counted far more than was measured, the difference cannot turn a size negative."""
    assert shown_sizes([D], [0, 10], [reading("x", 2)], 1.0) == [0, 0]
