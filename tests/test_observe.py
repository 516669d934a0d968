"""Usage corrects meter and cache model only where it belongs to a request of ours."""

from __future__ import annotations

import pytest
from play import Play
from trimtab import ContextOverflow

USER = {"role": "user", "content": "Why does the build fail?"}


def test_usage_behind_an_overflow_says_nothing() -> None:
    """A request that was refused is not what the provider measured."""
    play = Play()
    play.send([USER])
    huge = [
        USER,
        {"role": "assistant", "content": "Let me see."},
        {"role": "user", "content": "line of text\n" * 90_000},
    ]
    with pytest.raises(ContextOverflow):
        play.session.prepare(huge)
    before = (play.session.meter.factor, list(play.session.cache.requests))
    play.session.observe({"input_tokens": 5, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 0})
    assert (play.session.meter.factor, list(play.session.cache.requests)) == before
    assert play.send([USER]).report.tokens_after < 100


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_usage_while_switched_off_says_nothing(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What went out past trimtab is not anchored on."""
    play = Play()
    play.send([USER])
    monkeypatch.setenv("TRIMTAB_OFF", value)
    assert play.session.prepare([USER, USER]).messages == [USER, USER]
    play.session.observe({"input_tokens": 90_000})
    monkeypatch.delenv("TRIMTAB_OFF")
    assert play.send([USER]).report.tokens_after < 100


@pytest.mark.parametrize("value", ["", "0", "false", "no", "Off"])
def test_off_can_be_said_to_be_off(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """These values of TRIMTAB_OFF leave trimtab on."""
    monkeypatch.setenv("TRIMTAB_OFF", value)
    assert Play().send([USER]).report.tokens_after > 0
