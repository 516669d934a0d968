"""Hazards H48 and H53 to H58: one meter, anchored on usage, that counts everything that is sent."""

from __future__ import annotations

import pytest
from play import LONG, Play, call, decided, result, rounds, says, talk, user
from stages import Budget
from trimtab import ContextOverflow, Session
from trimtab.tokens import HIGHEST, LOWEST

CHINESE = "错误出现在解析器读取配置文件的时候，请先检查路径是否存在，然后再运行测试。"
JAPANESE = "設定ファイルを読み込むときにエラーが発生しました。パスを確認してください。"
KOREAN = "설정 파일을 읽는 중에 오류가 발생했습니다. 경로를 확인하십시오."


def usage(size: float) -> dict[str, float]:
    """What a provider reports for a request of ``size`` tokens, all of it cached."""
    return {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": size}


def test_H48_the_newest_result_alone_exceeds_the_window() -> None:
    """It can be shortened itself, before its first send; where nobody does, the error names it."""
    messages = [user("go"), says(call("huge")), user(result("huge", LONG * 60))]
    request = Play(Budget, stages=["budget"], provider={"window": 20_000}).send(messages)
    assert decided(request) == ["budget"]
    assert request.report.tokens_after < 500
    with pytest.raises(ContextOverflow, match=r"user message [0-9a-f]{8}: [23]\d,\d\d\d"):
        Play(provider={"window": 20_000}).send(messages)


def test_H53_system_and_tools_are_counted() -> None:
    """What stands beside the messages weighs as well."""
    alone = Play().send(talk(1)).report.tokens_after
    tools = [{"name": "Read", "description": LONG, "input_schema": {"type": "object"}}]
    with_tools = Play().send(talk(1), tools=tools).report.tokens_after
    both = Play().send(talk(1), tools=tools, system=LONG).report.tokens_after
    assert alone + 400 < with_tools < both - 400


@pytest.mark.parametrize("words", [CHINESE, JAPANESE, KOREAN], ids=["Chinese", "Japanese", "Korean"])
def test_H54_H55_cjk_is_counted_by_its_script(words: str) -> None:
    """Neither a quarter of a token nor more than one for each character: between 0.4 and 1.0 (measured 0.6 to 0.96)."""
    empty, full = (Play().send([user(text)]).report.tokens_after for text in ("x", words * 20))
    assert 0.4 <= (full - empty) / (20 * len(words)) <= 1.0


def test_H56_usage_is_the_anchor() -> None:
    """The provider's own count stands; only what came after it is estimated."""
    play = Play()
    messages = talk(3)
    play.send(messages)
    play.session.observe(usage(5_000))
    assert play.session.view.tokens == 5_000
    news = rounds(1, first=9)
    estimate = Play().send([*messages, *news]).report.tokens_after - Play().send(messages).report.tokens_after
    report = play.send([*messages, *news]).report
    assert report.tokens_after - 5_000 == pytest.approx(estimate, rel=0.5)
    play.session.observe(usage(5_900))
    assert play.session.view.tokens == 5_900


def test_H56_usage_of_another_branch_is_no_anchor_here() -> None:
    """After a rewind the size follows what was measured on this path, not what a dropped branch weighed."""
    play = Play()
    messages = talk(2)
    play.send(messages)
    play.session.observe(usage(2_000))
    branch = [*messages, *rounds(1, first=50)]
    play.send(branch)
    play.session.observe(usage(90_000))
    other = [*messages, says("no"), user("try again")]
    assert play.send(other).report.tokens_after < 2_200


def test_H57_trigger_and_target_are_measured_alike() -> None:
    """The sizes of the parts add up to the size that triggers, before and after usage arrived."""
    play = Play(Budget, stages=["budget"])
    messages = talk(4)
    for size in (None, 9_000):
        report = play.send(messages).report
        view = play.session.view
        assert sum(report.weights) == pytest.approx(report.tokens_after / report.meter["factor"])
        assert view.tokens == pytest.approx(report.tokens_after)
        assert view.tokens - view.tokens_after(0) == pytest.approx(report.meter["hidden"])
        if size:
            continue
        play.session.observe(usage(9_000))


def calibrated(share: float, growth: int = 40) -> Session:
    """A session whose provider counts ``share`` tokens for each of ours."""
    play = Play(provider={"window": 10_000_000})
    messages = talk(1)
    for n in range(growth):
        play.send(messages)
        play.session.observe(usage(share * play.session.view.raw))
        messages = [*messages, *rounds(1, first=10 + n)]
    return play.session


@pytest.mark.parametrize("share", [0.8, 1.0, 1.5, 2.0])
def test_H58_each_conversation_has_its_own_factor(share: float) -> None:
    """Growth calibrates the factor per session."""
    assert calibrated(share).meter.factor == pytest.approx(share, rel=0.15)


@pytest.mark.parametrize(("share", "bound"), [(0.05, LOWEST), (60.0, HIGHEST)])
def test_H58_the_factor_is_bounded(share: float, bound: float) -> None:
    """A nonsensical usage cannot pull the factor out of what was ever seen."""
    assert calibrated(share).meter.factor == pytest.approx(bound, rel=0.2)
