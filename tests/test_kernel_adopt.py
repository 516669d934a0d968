"""A conversation that was sent before: what the next process takes to be in the cache."""

from __future__ import annotations

from play import Play, decided, raw, talk
from stages import ClearOld, Greet


def test_inserts_count_among_what_was_sent() -> None:
    """What was inserted early on shifts nothing: all that was answered is taken to be held."""
    play = Play(ClearOld, Greet, stages=[{"clear-old": {"when": "cold", "keep": 1}}], hooks=["greet"])
    for n in range(6):
        last = play.send(talk(n))
    assert len(last.messages) == 12
    play.again()
    request = play.send(talk(6))
    assert request.report.held == 13
    assert "clear-old" not in decided(request)
    assert raw(request).startswith(raw(last)[:-1])
