"""Tallies as tables for a terminal: one for each session and a total, profiles and models side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from trimtab.replay.report import TOTAL, Tally, columns, row

__all__ = ["tables"]

Row = Mapping[str, Any]
Cell = Callable[[Row], str]


def _money(key: str) -> Cell:
    """Dollars, and what share of the recorded cost they are."""

    def cell(row: Row) -> str:
        cost, before = row[key], row["input_cost_before"]
        share = f" ({100 * cost / before:.1f} %)" if before and key != "input_cost_before" else ""
        return f"${cost:.4f}{share}"

    return cell


def _share(*keys: str) -> Cell:
    return lambda row: " / ".join(f"{100 * row[key]:.1f} %" for key in keys)


def _number(*keys: str) -> Cell:
    return lambda row: " / ".join(f"{row[key]:,.0f}" for key in keys)


def _time(*keys: str) -> Cell:
    return lambda row: " / ".join(f"{row[key]:.2f}" for key in keys)


LINES: tuple[tuple[str, Cell | None, Cell | None], ...] = (
    ("requests", _number("requests"), None),
    ("input cost", _money("input_cost_before"), _money("input_cost_after")),
    ("  + refetch", None, _money("refetch_cost_after")),
    ("  + strict refetch", None, _money("strict_refetch_cost_after")),
    ("hit rate", _share("hit_rate_before"), _share("hit_rate_after")),
    ("tokens, peak", _number("peak_tokens_before"), _number("peak_tokens_after")),
    ("tokens, mean", _number("mean_before"), _number("mean_after")),
    ("over the window", _number("over_window_before"), _number("over_window_after")),
    ("visible / worst decile", None, _share("visible", "visible_worst_decile")),
    ("strictly visible", None, _share("strictly_visible")),
    ("recoverable", None, _share("recoverable")),
    (
        "rewrites warm / cold / unexplained",
        None,
        _number("rewrites_warm", "rewrites_cold", "rewrites_unexplained"),
    ),
    ("exceptions / invalid / pins lost", None, _number("exceptions", "invalid_requests", "pins_lost")),
    ("milliseconds p50 / p99", None, _time("ms_p50", "ms_p99")),
)
"""Label, what stands under "as recorded", what stands under each profile."""


def tables(tallies: Sequence[Tally]) -> Iterator[Table]:
    """One table per session, and one over all where there are several."""
    found = columns(tallies)
    sessions = list(dict.fromkeys(tally.session for tally in tallies))
    for session in sessions:
        groups = [(name, [tally]) for name, group in found.items() for tally in group if tally.session == session]
        yield _table(session, groups, groups[0][1][0].notes)
    if len(sessions) > 1:
        yield _table(f"{TOTAL}: {len(sessions)} sessions", list(found.items()))


def _table(title: str, groups: Sequence[tuple[str, Sequence[Tally]]], notes: Sequence[str] = ()) -> Table:
    """Make one table; each group is the tallies of one column, with its name."""
    facts = dict.fromkeys(tally.facts for _, group in groups for tally in group)
    caption = escape("\n".join([*facts, *notes]))
    table = Table(title=escape(title), title_justify="left", caption=caption, caption_justify="left")
    rows = [_row(group) for _, group in groups]
    models = {made["model"]: made for made in reversed(rows)}
    recorded = list(reversed(models.values()))
    labels = ["as recorded" if len(recorded) == 1 else f"as recorded, {made['model']}" for made in recorded]
    table.add_column("", overflow="fold")
    for label in (*labels, *(name for name, _ in groups)):
        table.add_column(escape(label), justify="right", overflow="fold")
    for label, before, after in LINES:
        befores = [before(made) if before else "" for made in recorded]
        table.add_row(label, *befores, *(after(made) if after else "" for made in rows))
    for stage in dict.fromkeys(stage for made in rows for stage in made["stages"]):
        table.add_section()
        table.add_row(stage, *("" for _ in recorded), *(_stage(made["stages"].get(stage)) for made in rows))
    return table


def _row(group: Sequence[Tally]) -> Row:
    made = row(group, group[0].session, group[0].profile)
    for side in ("before", "after"):
        bills = [getattr(tally, side) for tally in group]
        made[f"mean_{side}"] = sum(bill.total for bill in bills) / max(made["requests"], 1)
    return made


def _stage(figures: Mapping[str, Any] | None) -> str:
    if figures is None:
        return ""
    return (
        f"fired {figures['fired']:,}, refused {figures['refused']:,}\n"
        f"{figures['tokens_freed']:,.0f} tokens freed, {figures['tokens_rewritten']:,.0f} rewritten"
    )
