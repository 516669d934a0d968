"""The bill of a few requests, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from trimtab.provider import Price, Provider
from trimtab.replay.reader import Reading
from trimtab.replay.simulate import Bill

PRICE = Price(input=10.0, cache_read=1.0, cache_write=12.5)


def bill(minimum: int = 100, step: int = 1) -> Bill:
    """An empty account."""
    return Bill(
        Provider(
            model="m",
            known=True,
            window=1000,
            ttl=300.0,
            minimum=minimum,
            step=step,
            price=PRICE,
            prefix_bound=False,
            factor=1.0,
        )
    )


def send(to: Bill, keys: str, sizes: Sequence[float], now: float) -> float:
    """Charge a request of messages called a, b, c; its millionths of a dollar."""
    before = to.cost
    to.send("head", [Reading(key, "user", (), 0) for key in keys], sizes, now)
    return (to.cost - before) * 1e6


def test_a_prefix_is_read_and_the_rest_written() -> None:
    """Append-only and in time: only what is new is written."""
    account = bill()
    assert send(account, "ab", [100, 10, 20], 0) == pytest.approx(130 * 12.5)
    assert send(account, "abc", [100, 10, 20, 30], 299) == pytest.approx(130 * 1.0 + 30 * 12.5)
    assert (account.read, account.total, account.peak, account.requests) == (130, 290, 160, 2)


def test_the_clock_starts_anew_with_each_request() -> None:
    """A prefix is gone five minutes after the last request that read it, not after the write."""
    account = bill()
    send(account, "a", [100, 10], 0)
    assert send(account, "a", [100, 10], 200) == pytest.approx(110)
    assert send(account, "a", [100, 10], 499) == pytest.approx(110)
    assert send(account, "a", [100, 10], 800) == pytest.approx(110 * 12.5)


def test_a_changed_message_costs_everything_behind_it() -> None:
    """The head and the messages in front of the change are read, the others written again."""
    account = bill()
    send(account, "abc", [100, 10, 20, 30], 0)
    assert send(account, "axc", [100, 10, 5, 30], 10) == pytest.approx(110 + 35 * 12.5)


def test_below_the_minimum_nothing_is_kept() -> None:
    """A request too small for the cache is charged as fresh, and the next one finds nothing."""
    account = bill(minimum=200)
    assert send(account, "a", [100, 10], 0) == pytest.approx(110 * 10)
    assert send(account, "abc", [100, 10, 20, 100], 1) == pytest.approx(230 * 12.5)


def test_hits_come_in_steps() -> None:
    """Of 130 held tokens 128 are read in steps of 64; the other two are written again."""
    account = bill(step=64)
    send(account, "ab", [100, 10, 20], 0)
    assert send(account, "abc", [100, 10, 20, 30], 10) == pytest.approx(128 * 1.0 + 32 * 12.5)


def test_too_little_held_is_not_read() -> None:
    """Behind an edit the head alone remains, and it is below the minimum: all is written."""
    account = bill(minimum=110)
    send(account, "ab", [100, 10, 20], 0)
    assert send(account, "xb", [100, 10, 20], 10) == pytest.approx(130 * 12.5)


def test_fetching_again() -> None:
    """One more request reads the context and writes the text."""
    assert bill().fetch(50, 1000) * 1e6 == pytest.approx(1000 + 50 * 12.5)
