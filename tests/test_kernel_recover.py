"""After a refusal: what it said, the recovery chain, and when to give up (R16)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from play import Play, decided, edits, rounds, says, shown, talk, user
from stages import FoldOld
from trimtab import ContextOverflow, Fold, Note, Overflow, Replace, Stage, TrimtabError


class RefusedError(Exception):
    """What a provider's client raises."""

    def __init__(self, words: str, status: int = 400) -> None:
        super().__init__(words)
        self.status_code = status


def too_long(tokens: int, limit: int) -> RefusedError:
    """Anthropic's words."""
    return RefusedError(f"prompt is too long: {tokens} tokens > {limit} maximum")


class Halve(Stage):
    """Folds half of what the view shows behind its first message; keeps what it was told."""

    name = "halve"
    told: ClassVar[list[Overflow]] = []

    def propose(self, view: Any) -> Iterator[Any]:
        """Nothing."""
        yield from ()

    def recover(self, view: Any, overflow: Overflow) -> Iterator[Any]:
        """One fold of the older half."""
        self.told.append(overflow)
        rounds = view.rounds[:-1]
        items = [item for round in rounds[: max(1, len(rounds) // 2)] for item in round.messages]
        if items:
            yield Fold(items, f"Half {overflow.attempt}.")


class Sip(Stage):
    """Clears a single result each time, the oldest."""

    name = "sip"

    def propose(self, view: Any) -> Iterator[Any]:
        """Nothing."""
        yield from ()

    def recover(self, view: Any, overflow: Overflow) -> Iterator[Any]:
        """One edit."""
        yield from (Replace(one, "[cleared]") for one in [one for one in view.results if not one.replaced][:1])


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Nothing told yet."""
    Halve.told.clear()


WINDOW = {"window": 16_000}
"""Tokens; 20 rounds of `talk` are about 12,600."""


def play(**more: Any) -> Play:
    """A session that recovers by halving."""
    return Play(Halve, stages=["halve"], **{"provider": WINDOW, **more})


def test_a_refused_request_gets_smaller() -> None:
    """What the provider said is what the stage hears; the request that comes back is shorter and valid."""
    one = play()
    sent = one.send(talk(20))
    request = one.session.recover(too_long(17_000, 16_000))
    assert decided(request)[:1] == ["halve"]
    assert len(request.messages) < len(sent.messages)
    told = Halve.told[0]
    assert (told.tokens, told.limit, told.gap, told.attempt, told.estimated) == (17_000, 16_000, 1_000, 0, False)
    assert told.target == one.session.window.auto


def test_the_meter_believes_the_refusal() -> None:
    """What was refused as 17,000 tokens weighed that, so what is left is measured by it."""
    one = play()
    before = one.send(talk(20)).report.tokens_after
    after = one.session.recover(too_long(17_000, 16_000)).report.tokens_after
    freed = sum(edit["freed"] for edit in edits(one, "fold"))
    assert before < 14_000
    assert after == pytest.approx(17_000 - freed, abs=50)


def test_a_stage_that_frees_little_is_asked_again() -> None:
    """Until the provider would take what is left, also before anything was sent; no more than that is cleared."""
    one = Play(Sip, stages=["sip"], provider=WINDOW)
    one.send(talk(20))
    request = one.session.recover(too_long(17_000, 14_000))
    assert 13_000 < request.report.tokens_after < 14_000
    assert shown(request).count("[cleared]") > 4
    other = Play(Sip, stages=["sip"], provider=WINDOW)
    block = other.session.window.block
    assert block - 1_000 < other.send(talk(30)).report.tokens_after < block


def test_one_that_fails_is_not_asked_again() -> None:
    """Another stage goes on; the broken one is called once in a pass, and told of once."""

    class Broken(Sip):
        """Raises."""

        name = "broken"

        def recover(self, view: Any, overflow: Overflow) -> Iterator[Any]:
            """Nothing but trouble."""
            yield 1 / 0

    one = Play(Sip, Broken, stages=["broken", "sip"], provider=WINDOW)
    one.session.prepare(talk(20))
    assert len(one.session.recover(too_long(17_000, 14_000)).report.failures) == 1


def test_attempts_are_counted_for_one_request_and_over_restarts() -> None:
    """A retry that is refused again is the next attempt, also in a new process; the next request begins anew."""
    one = play()
    messages = talk(21)
    one.send(messages)
    one.session.recover(too_long(17_000, 16_000))
    one.session.recover(too_long(16_100, 16_000))
    one.again()
    one.send(messages)
    one.session.recover(too_long(16_050, 16_000))
    assert [told.attempt for told in Halve.told] == [0, 1, 2]
    one.send([*messages, says("go on"), user("next")])  # still full, by the provider's word
    assert (Halve.told[-1].attempt, Halve.told[-1].estimated) == (0, True)


def test_where_nothing_is_left_it_says_so() -> None:
    """No stage that recovers, or nothing more to free: one clear error instead of the same request again."""
    bare = Play(provider=WINDOW)
    bare.send(talk(3))
    with pytest.raises(ContextOverflow, match="the provider refused the request"):
        bare.session.recover(too_long(17_000, 16_000))
    one = play()
    one.send([user("Hello.")])
    with pytest.raises(ContextOverflow, match="the provider refused the request"):
        one.session.recover(too_long(17_000, 16_000))


@pytest.mark.parametrize(
    "error",
    [
        RefusedError("Too many tokens per minute: rate limit", 429),
        RefusedError("max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens"),
        ConnectionError("reset by peer"),
        RefusedError("invalid x-api-key", 401),
    ],
)
def test_other_errors_come_back_as_they_were(error: Exception) -> None:
    """A smaller request does not help against a rate limit, a wrong setting or a broken line."""
    one = play()
    one.send(talk(5))
    with pytest.raises(type(error)) as raised:
        one.session.recover(error)
    assert raised.value is error
    assert Halve.told == []


def test_what_is_no_error_is_refused() -> None:
    """A good answer cannot be recovered from; a session without a request neither."""
    one = play()
    with pytest.raises(TrimtabError, match="has prepared no request yet"):
        one.session.recover(too_long(2, 1))
    one.send(talk(5))
    with pytest.raises(TrimtabError, match="a smaller request would not help"):
        one.session.recover({"content": [{"type": "text", "text": "fine"}], "usage": {"input_tokens": 10}})


def test_H51_an_observed_limit_is_learned() -> None:
    """A provider that takes less than its window is believed, also by the next process."""
    one = play()
    one.send(talk(20))
    one.session.recover(too_long(13_000, 12_500))
    assert one.session.window.window == 12_500
    one.again()
    one.send(talk(20))
    assert one.session.window.window == 12_500


def test_H51_an_unknown_400_near_the_window_is_an_overflow_once() -> None:
    """In words that nobody knows: recovered from near the window, handed back far from it."""
    one = play()
    strange = RefusedError("the request is not to our liking")
    one.send(talk(3))
    with pytest.raises(RefusedError):
        one.session.recover(strange)
    one.send(talk(23))
    assert "halve" in decided(one.session.recover(strange))


def test_H52_a_silent_overflow_is_noticed() -> None:
    """Usage above the window is an overflow although the provider answered; so is an empty answer cut for length."""
    one = play()
    one.send(talk(20))
    response = {"usage": {"input_tokens": 17_000, "output_tokens": 1}}
    assert one.session.observe(response) is True
    assert decided(one.session.recover(response))[:1] == ["halve"]
    assert one.session.observe({"usage": {"input_tokens": 9_000, "output_tokens": 1}}) is False


def test_H49_a_limit_in_bytes_is_told_as_such() -> None:
    """413 without the words of an overflow: the stage hears bytes, the window stays."""
    one = play()
    one.send(talk(20))
    one.session.recover(RefusedError("Request exceeds the maximum size", 413))
    assert Halve.told[0].bytes
    assert one.session.window.window == 16_000


def test_at_block_prepare_recovers_before_it_raises() -> None:
    """Our own count says that the window is full: the chain runs in `prepare`, estimated, down to its target."""
    one = play()
    request = one.send(talk(25))
    assert Halve.told[0].estimated
    assert request.report.tokens_after < one.session.window.block
    assert "Half 0." in shown(request)


def test_H50_each_refusal_makes_progress_or_ends() -> None:
    """Refusal after refusal: requests only get smaller, and it ends in ContextOverflow."""
    one = play()
    sizes = [len(shown(one.send(talk(21))))]
    for _ in range(50):
        try:
            sizes.append(len(shown(one.session.recover(too_long(17_000, 16_000)))))
        except ContextOverflow:
            break
    else:
        raise AssertionError("it did not end")
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes) > 3


def test_recovery_boundaries_do_not_open_a_breaker() -> None:
    """What keeps the agent alive is not switched off for doing it often."""

    class Start(Halve):
        """Folds from where the view starts."""

        name = "start"

        def recover(self, view: Any, overflow: Overflow) -> Iterator[Any]:
            """All but the latest round."""
            yield Fold(view.messages[:-2], "All before.")

    one = Play(Start, stages=["start"], provider=WINDOW)
    messages = talk(25)
    for n in range(6):
        request = one.send(messages)
        assert [outcome.boundary for outcome in request.report.decisions][:1] == [True]
        messages = [*messages, *rounds(25, first=100 * n + 100)]


def test_a_failing_recovery_costs_only_its_own_effect() -> None:
    """A stage that raises in `recover` is reported, the next one goes on."""

    class Broken(Halve):
        """Raises."""

        name = "broken"

        def recover(self, view: Any, overflow: Overflow) -> Iterator[Any]:
            """Raise."""
            yield Note("halve", 1)
            raise ValueError("boom")

    one = Play(Broken, Halve, stages=["broken", "halve"], provider=WINDOW)
    one.send(talk(20))
    request = one.session.recover(too_long(17_000, 16_000))
    assert "broken: ValueError: boom" in request.report.failures
    assert "halve" in decided(request)


def test_an_ordinary_fold_needs_its_when_again_afterwards() -> None:
    """The recovery opens nothing for `propose`."""
    one = Play(FoldOld, Halve, stages=[{"fold-old": {"when": "cold"}}, "halve"], provider=WINDOW)
    one.send(talk(20))
    assert "fold-old" not in decided(one.session.recover(too_long(17_000, 16_000)))
