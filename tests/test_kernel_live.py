"""What a session offers to clients of real providers: thinking that is refused, questions, timings, savings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from play import LONG, Play, call, result, says, shown, talk, text, thinks, user
from stages import ClearOld, Do, FoldOld
from trimtab import Answer, Ask, AskFailed, Fold, Param, Session, Stage
from trimtab.ask import asking
from trimtab.dialect import Usage

BOUND = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
BLOCK = {"type": "compaction", "content": "The parser was read.", "signature": "sealed"}


class RefusedError(Exception):
    """A 400."""

    status_code = 400


class Asks(Stage):
    """Puts one question and folds what it covers under the answer."""

    name = "asks"
    how: ClassVar[dict[str, Any]] = {}
    got: ClassVar[list[Any]] = []

    def propose(self, view: Any) -> Iterator[Any]:
        """All but the newest two messages."""
        run = [item for item in view.messages if item.message][:-2]
        if not run:
            return
        try:
            answer = yield Ask("Summarise.", run, **type(self).how)
        except AskFailed as failed:
            type(self).got.append(failed)
            return
        yield Fold(run, str(answer), "asked", block=getattr(answer, "block", None))


def asks(answer: Any, *, provider: dict[str, Any] | None = None, **how: Any) -> Play:
    """A session with that stage, open in a manual pass."""
    kind = type("Asks", (Asks,), {"how": how, "got": []})
    return Play(kind, stages=[{"asks": {"when": "cold"}}], ask=answer, provider=provider)


def thought(count: int) -> list[dict[str, Any]]:
    """Closed turns, in each a thought-about call and its result; then the user's next words."""
    turns = [
        [user(f"{n}?"), says(thinks(f"t{n}"), call(f"c{n}")), user(result(f"c{n}")), says(f"done {n}")]
        for n in range(count)
    ]
    return [*(message for turn in turns for message in turn), user("And?")]


# ------------------------------------------------------------------ thinking that is bound


def test_the_provider_leaves_out_what_is_bound() -> None:
    """With ``drop_block`` an edit takes no thinking with it, and says so from then on, also in a new process (R23)."""
    provider = {"prefix_bound": True, "drop_block": True}
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold", "keep": 1}}], provider=provider)
    assert play.send(thought(3)).extra == {}
    request = play.cold(thought(3))
    assert [f"signed t{n}" in shown(request) for n in range(3)] == [True, True, True]
    assert request.extra == {
        "thinking": {"block_binding": {"prefix_mismatch_behavior": "drop_block"}},
        "betas": ["thinking-binding-controls-2026-08-01"],
    }
    play.again()
    assert play.send(thought(3)).extra == request.extra


def test_drop_block_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither undoing the edit nor a stage takes back that the provider leaves out what is bound (R23)."""
    provider = {"prefix_bound": True, "drop_block": True}
    play = Play(ClearOld, Do, stages=[{"clear-old": {"when": "cold", "keep": 1}}, "do"], provider=provider)
    play.send(thought(3))
    extra = play.cold(thought(3)).extra
    play.session.restore(next(one for one in play.session.view.projection.rows if one[0])[0])
    monkeypatch.setattr(Do, "free", lambda self, view: [Param("drop_block", False)])
    request = play.send(thought(4))
    assert "[cleared]" not in shown(request)
    assert request.extra == extra
    assert "what is bound to something else stays so" in str(request.report.refused)


def test_no_thinking_behind_it_needs_no_parameter() -> None:
    """An edit behind which nobody thought asks the provider for nothing."""
    provider = {"prefix_bound": True, "drop_block": True}
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold", "keep": 1}}], provider=provider)
    play.send(talk(4))
    request = play.cold(talk(4))
    assert request.report.decisions
    assert request.extra == {}


def test_a_provider_that_knows_no_drop_block() -> None:
    """Its 400 switches the feature off; the thinking goes, and later edits take theirs with them again."""
    provider = {"prefix_bound": True, "drop_block": True}
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold", "keep": 1}}], provider=provider)
    play.cold(thought(3))
    play.cold(thought(4))
    error = RefusedError("thinking.adaptive.block_binding: Extra inputs are not permitted")
    request = play.session.recover(error)
    assert request.extra == {}
    assert "signed" not in shown(request)
    assert "drop_block was refused" in request.report.warnings[0]
    play.again()
    more = thought(5)
    assert "signed t4" in shown(play.send(more))
    assert "signed t4" not in shown(play.cold(more))


def test_refused_thinking_goes_and_stays_away() -> None:
    """A 400 about a signature costs the thinking, once; the same error again is raised as it came."""
    play = Play(provider={"prefix_bound": True})
    play.send(thought(3))
    request = play.session.recover(RefusedError(BOUND))
    assert "signed" not in shown(request)
    assert request.report.warnings == ["the provider refused thinking, so it is left out from now on"]
    with pytest.raises(RefusedError):
        play.session.recover(RefusedError(BOUND))
    assert "signed" not in shown(play.again().prepare(thought(3)))


def test_refused_thinking_is_left_to_the_provider_where_it_can() -> None:
    """Where the profile says ``drop_block`` the thinking stays and the parameter is set."""
    play = Play(provider={"prefix_bound": True, "drop_block": True})
    play.send(thought(3))
    request = play.session.recover(RefusedError(BOUND))
    assert shown(request).count("signed") == 3
    assert request.extra["betas"] == ["thinking-binding-controls-2026-08-01"]


def test_a_signature_is_none_of_our_business_without_thinking() -> None:
    """An error about thinking where there is none is raised as it came, and nothing is recorded."""
    play = Play()
    play.send(talk(3))
    with pytest.raises(RefusedError):
        play.session.recover(RefusedError(BOUND))
    assert play.session.explain() == []


# ------------------------------------------------------------------ the provider's own summary


def test_the_providers_own_summary_stands_first() -> None:
    """Its block comes back byte for byte, with the header that it needs, also in a new process."""
    play = asks(lambda ask: Answer(BLOCK["content"], block=BLOCK), provider={"compaction": True}, native=True)
    play.send(talk(6))
    request = play.cold(talk(6))
    assert request.messages[0] == {"role": "user", "content": [BLOCK]}
    assert request.extra["betas"] == ["compact-2026-09-04"]
    assert play.send(talk(6)).messages == request.messages
    play.ask = None
    play.again()
    after = play.send(talk(6))
    assert (after.messages, after.extra) == (request.messages, request.extra)


def test_what_the_provider_is_to_summarise() -> None:
    """The request of a native question ends with what is to be summarised."""
    asked: list[Ask] = []
    play = asks(lambda ask: asked.append(ask), provider={"compaction": True}, native=True)
    messages = talk(6)
    play.send(messages)
    play.cold(messages)
    (ask,) = asked
    assert ask.request.messages == messages[:-2]


def test_a_block_of_a_stages_own_making_is_refused() -> None:
    """Only what the provider gave for this very run, in this pass, may stand in its place."""

    class Forges(Stage):
        name = "forges"

        def propose(self, view: Any) -> Iterator[Any]:
            run = [item for item in view.messages if item.message][:-2]
            yield Fold(run, "short", block=BLOCK)

    play = Play(Forges, stages=[{"forges": {"when": "cold"}}], provider={"compaction": True})
    play.send(talk(6))
    request = play.cold(talk(6))
    assert request.report.refused["forges"] == {"a block that the provider did not give for this run": 1}


def test_a_refused_block_becomes_its_text() -> None:
    """A provider that does not take its block back gets the summary as text."""
    play = asks(lambda ask: Answer(BLOCK["content"], block=BLOCK), provider={"compaction": True}, native=True)
    play.send(talk(6))
    play.cold(talk(6))
    request = play.session.recover(RefusedError("compaction_signature_invalid: the signature does not match"))
    assert request.messages[0]["content"] == [text("The parser was read.")]
    assert request.extra == {}
    assert play.again().prepare(talk(6)).messages == request.messages


def test_thinking_behind_the_providers_summary_stays() -> None:
    """What follows it directly stays bound to it, so no thinking is lost; behind a summary of ours it goes (R23)."""
    messages = thought(4)

    def kept(block: Any) -> int:
        bound = {"prefix_bound": True, "compaction": True}
        play = asks(lambda ask: Answer("short", block=block), provider=bound, native=True)
        type(play.session.plan.stages[0]).propose = _all_but_three  # type: ignore[method-assign]
        play.send(messages)
        return shown(play.cold(messages)).count("signed")

    assert (kept(BLOCK), kept(None)) == (1, 0)


def _all_but_three(stage: Any, view: Any) -> Iterator[Any]:
    """Up to the user's last words but one: what stays begins with an answer."""
    run = [item for item in view.messages if item.message][:-4]
    answer = yield Ask("Summarise.", run, native=True)
    yield Fold(run, str(answer), block=answer.block)


# ------------------------------------------------------------------ questions


def test_a_question_says_who_should_answer_and_how_long() -> None:
    """The profile's `ask` section reaches the asker."""
    asked: list[Ask] = []
    play = asks(lambda ask: asked.append(ask))
    play.overrides["ask"] = {"model": "claude-haiku-5-5", "timeout": "7s"}
    play.again()
    play.send(talk(6))
    play.cold(talk(6))
    assert [(ask.model, ask.timeout) for ask in asked] == [("claude-haiku-5-5", 7.0)]


def test_who_asks_is_told_what_else_the_request_says() -> None:
    """The caller's parameters come with a shared question, untouched."""
    asked: list[Ask] = []
    parameters = {"model": "m", "thinking": {"type": "adaptive"}}
    play = asks(lambda ask: asked.append(ask), shared=True)
    request = play.send(talk(6), parameters=parameters)
    assert request.parameters is parameters
    play.cold(talk(6), parameters=parameters)
    assert asked[0].request.parameters is parameters


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_running_question_is_known(how: str) -> None:
    """`asking` holds the question while an asker works on it, and nothing before and after (R22)."""
    seen: list[Any] = []

    async def later(ask: Ask) -> str:
        await asyncio.sleep(0)
        seen.append(asking.get())
        return "short"

    def now(ask: Ask) -> str:
        seen.append(asking.get())
        return "short"

    play = asks(now if how == "sync" else later)
    play.send(talk(6))
    play.now += 3_600
    if how == "sync":
        play.session.prepare(talk(6))
    else:
        asyncio.run(play.session.aprepare(talk(6)))
    assert [ask.prompt for ask in seen] == ["Summarise."]
    assert asking.get() is None


# ------------------------------------------------------------------ what it told and saved


def test_timings() -> None:
    """Each stage, question and hook that ran, and the pass, which is the longest and the last."""
    play = asks(lambda ask: "short")
    play.send(talk(6))
    report = play.cold(talk(6)).report
    kinds = [(one.kind, one.name) for one in report.timings]
    assert kinds == [("ask", "summary"), ("stage", "asks"), ("pass", "auto")]
    assert max(report.timings, key=lambda one: one.seconds).kind == "pass"


def usage(request: Any, read: float = 0.0) -> Usage:
    """What a provider that counts as we do would say."""
    total = request.report.tokens_after
    return Usage(read, total - read, 0.0, 10.0)


PRICED = {"price": {"input": 1.0, "output": 5.0, "cache_read": 0.1, "cache_write": 1.25, "cache_write_1h": 2.0}}


def test_nothing_saved_where_nothing_was_shortened() -> None:
    """Sent and unshortened are the same, and a request without usage counts for nothing."""
    play = Play(provider=PRICED)
    size = 0.0
    for n in range(1, 6):
        request = play.send(talk(n))
        play.session.observe(usage(request, read=size))
        size = request.report.tokens_after
    saved = play.session.saved()
    assert saved.requests == 5
    assert saved.tokens == pytest.approx(0.0, abs=1.0)
    assert saved.dollars == pytest.approx(0.0, abs=1e-6)
    play.send(talk(6))
    assert play.session.saved() == saved


def test_what_a_session_saved() -> None:
    """What the provider told beside the unshortened conversation; a question is subtracted, its answer too."""

    def answer(ask: Ask) -> Answer:
        return Answer("short", usage={"input_tokens": 3_000, "output_tokens": 100})

    play = asks(answer, provider=PRICED)
    play.session.observe(usage(play.send(talk(8))))
    request = play.cold(talk(8))
    play.session.observe(usage(request))
    saved = play.session.saved()
    full = 2 * saved.sent_tokens - 2 * request.report.tokens_after  # twice the first request
    assert saved.unshortened_tokens == pytest.approx(full, rel=0.01)
    assert saved.asked_tokens == 3_100
    assert saved.asked_dollars == pytest.approx((3_000 * 1.0 + 100 * 5.0) / 1e6)
    assert saved.tokens == pytest.approx(saved.unshortened_tokens - saved.sent_tokens - 3_100)
    assert 0 < saved.as_dict()["dollars"] < saved.unshortened_dollars
    assert saved.too_large == 0


def test_what_would_not_have_fit() -> None:
    """Requests that would have been larger than the window are counted."""
    window = {"window": 6_000, **PRICED}
    play = Play(ClearOld, stages=[{"clear-old": {"when": {"over": 3_000}, "keep": 1}}], provider=window)
    for n in range(1, 16):
        play.session.observe(usage(play.send(talk(n))))
    saved = play.session.saved()
    assert 3 < saved.too_large < saved.requests == 15


def test_a_stored_text_can_be_read() -> None:
    """By the path that a placeholder shows, or its last part; of another session, or made up, nothing."""
    play = Play(ClearOld, stages=[{"clear-old": {"when": "cold", "keep": 1}}])
    play.send(talk(4))
    play.cold(talk(4))
    view = play.session.view
    block = view.results[0].block
    path = view.stored(block)
    assert view.original(path) == block.text == f"c0: {LONG}"
    assert view.original(path.rpartition("/")[2].rpartition(":")[2]) == block.text
    assert view.original(view.stored(view.results[-1].block)) is None
    assert view.original("../../etc/passwd") is None
    other: Session = play.open("other")
    other.prepare(talk(1))
    assert other.view.original(path) is None


def test_a_watcher_that_fails_is_not_heard_of() -> None:
    """Telemetry that raises changes nothing for the agent."""

    class Bad:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    play = Play(FoldOld)
    play.session._telemetry = Bad()
    request = play.send(talk(2))
    play.session.observe(usage(request))
    assert play.session.saved().requests == 1


def test_what_could_not_be_used_was_paid_for() -> None:
    """An answer that was cut off counts as asked."""

    def cut(ask: Ask) -> str:
        failed = AskFailed("cut off")
        failed.usage = {"input_tokens": 900, "output_tokens": 100}
        raise failed

    play = asks(cut, provider=PRICED)
    play.send(talk(8))
    play.cold(talk(8))
    assert play.session.saved().asked_tokens == 1_000


def test_an_asynchronous_asker_needs_aprepare() -> None:
    """`prepare` cannot wait for it, and says so."""

    async def later(ask: Ask) -> str:
        return "short"

    play = asks(later)
    play.send(talk(6))
    (warning,) = play.cold(talk(6)).report.warnings
    assert warning == "asks: no answer: the asker is asynchronous: here it takes a synchronous one"


def test_a_question_may_be_put_in_other_words_in_the_same_pass() -> None:
    """Behind `over` a stage that was told its question is too long asks a shorter one at once, not in a later pass."""
    asked: list[str] = []

    class Shorter(Stage):
        name = "shorter"

        def propose(self, view: Any) -> Iterator[Any]:
            run = [item for item in view.messages if item.message][:-2]
            for prompt in ("long", "short"):
                try:
                    yield Fold(run, str((yield Ask(prompt, run))), "asked")
                except AskFailed:
                    continue
                return

    def answer(ask: Ask) -> str:
        asked.append(ask.prompt)
        if ask.prompt == "long":
            raise AskFailed("too long")
        return "done"

    play = Play(Shorter, stages=[{"shorter": {"when": {"over": 3_000}}}], ask=answer)
    request = play.send(talk(8))
    assert asked == ["long", "short"]
    assert request.report.boundary is not None


@pytest.mark.parametrize("share", [0.6, 1.0, 1.5])
def test_nothing_is_saved_by_a_wrong_count(share: float) -> None:
    """Where our count is off, by more than what is not seen weighs, an unshortened conversation still saves nothing."""
    play = Play(provider=PRICED)
    for n in range(1, 8):
        request = play.send(talk(n), system="You are careful.")
        raw = sum(request.report.weights)
        play.session.observe(Usage(0.0 if n == 1 else raw * share / 2, raw * share / 2, 0.0, 10.0))
    saved = play.session.saved()
    assert (saved.tokens, saved.dollars) == (pytest.approx(0, abs=1e-6), pytest.approx(0, abs=1e-9))


def test_what_is_left_weighs_something() -> None:
    """A provider that counts far less than we do: after a summary the request does not weigh less than nothing."""
    play = asks(lambda ask: "short")
    request = play.send(talk(9))
    play.session.observe(Usage(0.0, 0.5 * request.report.tokens_after, 0.0, 10.0))
    report = play.cold(talk(9)).report
    assert report.boundary is not None
    left = sum(report.weights) / sum(request.report.weights)
    assert report.tokens_after == pytest.approx(0.5 * left * request.report.tokens_after, rel=0.01)


def test_each_summary_knows_its_own_full_text() -> None:
    """Of two that begin with the same message `explain` names the text that each stands for."""
    play = Play(FoldAll, stages=[{"fold-all": {"when": "cold"}}])
    play.send(talk(4))
    play.cold(talk(4))
    play.cold(talk(8))
    first, second = (row["way_back"][0] for row in play.session.explain() if row["kind"] == "fold")
    texts = [play.blobs.get(path.removeprefix("blob:")).decode() for path in (first, second)]
    assert ["c5" in text for text in texts] == [False, True]


class FoldAll(Stage):
    """Folds all but the newest two messages, with the calls in it as the full text."""

    name = "fold-all"

    def propose(self, view: Any) -> Iterator[Any]:
        """One fold, longer ones every time."""
        run = [item for item in view.messages if item.covers][:-2]
        said = [id for item in run for id in item.covers]
        calls = [block.call for id in said for block in view.projection.conversation.nodes[id].blocks if block.call]
        if len(said) > 2:
            yield Fold(run, f"summary of {len(said)}", full=" ".join(calls))


def test_the_asker_may_name_the_model() -> None:
    """One with a model of its own is not asked behind the session's request; the profile's word is stronger."""

    class Named:
        model = "claude-haiku-4-5"

        def __call__(self, ask: Ask) -> str:
            return "short"

    play = Play(ask=Named())
    play.send(talk(1))
    view = play.session.view
    assert (view.asks_same, view.context.ask_model, view.ask_window.window) == (False, "claude-haiku-4-5", 200_000)
    play.overrides["ask"] = {"model": "claude-opus-5-5"}
    assert play.again().context.ask_model == "claude-opus-5-5"


def test_the_log_says_who_and_not_what(caplog: pytest.LogCaptureFixture) -> None:
    """Of a failure name and kind, of a summary its sizes; no word of the conversation."""

    class Breaks(Stage):
        name = "breaks"

        def propose(self, view: Any) -> Iterator[Any]:
            raise ValueError(str(view.messages[0].message.wire))
            yield

    caplog.set_level("DEBUG", "trimtab")
    play = Play(Breaks, FoldAll, stages=["breaks", {"breaks": {"when": "cold"}}, {"fold-all": {"when": "cold"}}])
    play.now += 9_999
    play.session.prepare(talk(6))
    play.now += 9_999
    play.session.prepare(talk(6))
    assert "session s: breaks: ValueError" in caplog.messages
    assert any("fold-all summarised" in message for message in caplog.messages)
    assert "parser" not in caplog.text


def test_a_provider_that_writes_no_summaries_is_asked_once() -> None:
    """Its 400 switches the feature off, in this process; `compact` tries again."""
    asked: list[Ask] = []

    def refuses(ask: Ask) -> str:
        asked.append(ask)
        failed = AskFailed("the provider said no")
        failed.__cause__ = RefusedError("compaction: Extra inputs are not permitted")
        raise failed

    play = asks(refuses, provider={"compaction": True}, native=True)
    play.send(talk(6))
    assert play.session.view.offers("compaction")
    play.cold(talk(6))
    assert not play.session.view.offers("compaction")
    play.session.compact(talk(6))
    assert len(asked) == 2
