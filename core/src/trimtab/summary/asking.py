"""Having a run summarised: by a model that is asked within its own window, else by rule."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from trimtab import Ask, AskFailed
from trimtab.summary.keep import scaled
from trimtab.summary.mechanical import mechanical
from trimtab.summary.prompt import SECTIONS, about_all, about_shared, about_text, summary_in
from trimtab.summary.transcript import transcript

if TYPE_CHECKING:
    from trimtab.projection import Item
    from trimtab.view import View

__all__ = ["RETRIES", "ROOM", "Writer", "Written", "summarise"]

ROOM = 10_000
"""Tokens that a summary takes at most on a window of 200k (chosen)."""
SHARE = 0.5
"""Of what it stands for, the most that it may take (chosen)."""
SPARE = 0.05
"""Of the asked model's window, what is left free: its tokens are not counted quite as ours are (chosen)."""
RETRIES = 3
"""Times that a question which was itself too long is asked again, shorter (chosen)."""


Writer = Literal["mechanical", "model", "provider"]
"""Who summarises: rules, a model that is asked, the provider of the session by itself."""


class Written(NamedTuple):
    """A summary and who wrote it."""

    text: str
    by: Writer
    why: str = ""
    """Why not who should have written it."""
    block: Any = None
    """What the provider wants back in the place of the text, if it wrote it."""


def summarise(
    view: View,
    run: Sequence[Item],
    *,
    writer: Writer = "model",
    shared: bool = True,
    room: float = ROOM,
) -> Generator[Ask, str, Written]:
    """Summarise a run in at most ``room`` tokens (on a window of 200k; in proportion on a smaller one).

    A model is asked behind the request as it stands (``shared``), which the provider has in its cache, if that is the
    session's model and its window takes it; else about the run as a text. The provider (``writer="provider"``) is asked
    where it offers that and the run starts where the view starts. Where nobody can be asked, or no answer can be used,
    the mechanical writer does it.
    """
    weight = view.context.meter.factor * sum(item.tokens for item in run)
    most = min(scaled(view, room), SHARE * weight)
    why = ""
    try:
        if writer == "model":
            return Written((yield from _asked(view, run, int(most), shared)), "model")
        if writer == "provider":
            answer = yield from _native(view, run, int(most))
            return Written(summary_in(answer), "provider", block=getattr(answer, "block", None))
    except AskFailed as failed:
        why = str(failed)
    return Written(mechanical(view, run, most), "mechanical", why)


def _asked(view: View, run: Sequence[Item], most: int, shared: bool) -> Generator[Ask, str, str]:
    """The summary by a model; raises `AskFailed`."""
    if not view.asks:
        raise AskFailed("nobody can be asked")
    takes = (1 - SPARE) * view.ask_window.effective
    if shared and view.asks_same:
        prompt = about_shared(view, run, most)
        if view.tokens + view.count(prompt) <= view.ask_window.effective:
            try:
                return summary_in((yield Ask(prompt, run, SECTIONS, shared=True, most=most, check=summary_in)))
            except AskFailed as failed:
                if failed.overflow is None:
                    raise
                takes -= failed.overflow.gap
    made = transcript(view, run, takes - view.count(about_text(view, "", most)))
    for tries in range(1 + RETRIES):
        if made is None:
            break
        try:
            answer = yield Ask(about_text(view, made.text, most), run, SECTIONS, most=most, check=summary_in)
            return summary_in(answer) + _left_out(made.shed)
        except AskFailed as failed:
            if failed.overflow is None or tries == RETRIES:
                raise
            made = made.lighter(failed.overflow.gap)
    raise AskFailed("not one round of what is to be summarised fits into the window of the model that is asked")


def _native(view: View, run: Sequence[Item], most: int) -> Generator[Ask, str, str]:
    """The provider's own summary; raises `AskFailed`."""
    if not view.offers("compaction") or not view.asks:
        raise AskFailed("the provider writes no summaries" if view.asks else "nobody can be asked")
    answer = yield Ask(about_all(view, most), run, SECTIONS, most=most, native=True, check=summary_in)
    return answer


def _left_out(rounds: int) -> str:
    if not rounds:
        return ""
    return f"\n\nNot summarised, for it did not fit: the {rounds} oldest rounds. They stand in the full text (above)."
