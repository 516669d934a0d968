"""The conformance kit as an outside judge of the profile `default`: what is left after five rounds at a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import pytest

pytest.importorskip("compaction_kit", reason="the package compaction-conformance-kit is not installed")
pytest.importorskip("trimtab_constraints", reason="the hook `constraints` is not installed")

from compaction_kit.benchmark import run_budget_benchmark
from compaction_kit.canaries import Canary, seeded_canaries
from compaction_kit.cli import COMPACTORS
from compaction_kit.corpus import build_random_session
from compaction_kit.report import FLAG_BELOW, SILENT_ABOVE
from compaction_kit.runner import ConformanceRun, run_conformance
from compaction_kit.session import SeededSession, build_seeded_session
from conformance import ROUNDS, WRITERS, Trimtab, worded

SEEDS = (1, 2, 3, 4)
WORDINGS = ("english", "chinese")
SESSIONS = [("seeded", 0), *(("random", seed) for seed in SEEDS), *((words, n) for words in WORDINGS for n in SEEDS)]

Judge = Callable[..., tuple[ConformanceRun, Trimtab]]

every = pytest.mark.parametrize("writer", WRITERS)
each = pytest.mark.parametrize(("kind", "seed"), SESSIONS, ids=[f"{kind}-{seed}" for kind, seed in SESSIONS])


def session(kind: str, seed: int) -> tuple[SeededSession, list[Canary]]:
    """One of the kit's sessions, or one in our own words."""
    if kind == "seeded":
        return build_seeded_session(), seeded_canaries()
    return build_random_session(seed) if kind == "random" else worded(kind, seed)


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    """For stores; not pytest's, for its path is long, and each summary names a file in it."""
    with TemporaryDirectory() as made:
        yield made


@pytest.fixture(scope="module")
def judged(folder: str) -> Judge:
    """The kit's run, and the compactor as it is afterwards; the budget was kept and nothing failed."""

    def judge(kind: str, seed: int, writer: str, share: float) -> tuple[ConformanceRun, Trimtab]:
        turns, canaries = session(kind, seed)
        compactor = Trimtab(folder, WRITERS[writer])
        run = run_conformance(turns, compactor, rounds=ROUNDS, canaries=canaries, budget_fraction=share)
        assert all(one.within_budget for one in run.rounds)
        assert compactor.request is not None
        assert compactor.request.report.failures == []
        return run, compactor

    return judge


def silent(run: ConformanceRun) -> None:
    """Every type is above the kit's threshold in every round."""
    for one in run.rounds:
        lost = [id for id, survived in one.survived.items() if not survived]
        assert all(share > SILENT_ABOVE for share in one.survival_by_type.values()), (one.round_num, lost)


def test_nothing_is_lost_at_30_percent(judged: Judge) -> None:
    """The kit's fixed session, and a model that says nothing of it."""
    silent(judged("seeded", 0, "bad model", 0.3)[0])


@pytest.mark.slow
@every
@each
def test_every_type_is_silent_at_30_percent(judged: Judge, kind: str, seed: int, writer: str) -> None:
    """In all five rounds, whoever writes the summary and however bad it is."""
    silent(judged(kind, seed, writer, 0.3)[0])


@pytest.mark.slow
@every
@pytest.mark.parametrize("kind", ["seeded", "random", *WORDINGS])
def test_85_percent_survive_at_20_percent(judged: Judge, kind: str, writer: str) -> None:
    """Of all statements, after the first round at least half of each type; and nothing of what was replaced."""
    survived: list[bool] = []
    for seed in SEEDS if kind != "seeded" else (0,):
        run = judged(kind, seed, writer, 0.2)[0]
        assert all(share >= FLAG_BELOW for share in run.rounds[0].survival_by_type.values())
        survived += run.rounds[-1].survived.values()
        replaced = [words for canary in session(kind, seed)[1] for words in canary.superseded_tokens]
        assert [words for words in replaced if words in run.rounds[-1].context.text] == []
    assert sum(survived) >= 0.85 * len(survived)


@pytest.mark.slow
def test_what_was_replaced_is_resolved_as_well_as_by_the_best_built_in(folder: str) -> None:
    """At 20 %, over the kit's two corpora of statements that replace others in other words."""
    factories = {**COMPACTORS, **{writer: partial(Trimtab, folder, ask) for writer, ask in WRITERS.items()}}
    entries: list[Mapping[str, Any]] = run_budget_benchmark(factories, budgets=[0.2], seeds=SEEDS)["entries"]
    resolved = {entry["compactor"]: entry["semantic"]["resolved_rate"] for entry in entries}
    best = max(rate for name, rate in resolved.items() if name in COMPACTORS)
    assert {writer: resolved[writer] for writer in WRITERS if resolved[writer] < best} == {}


@pytest.mark.slow
@every
@each
def test_the_newest_survive_at_10_percent(judged: Judge, kind: str, seed: int, writer: str) -> None:
    """Less than the statements take themselves: the newest stand, whole, and a warning names each of the others."""
    run, compactor = judged(kind, seed, writer, 0.1)
    turns, canaries = session(kind, seed)
    ordered = sorted(canaries, key=lambda canary: turns.canary_positions[canary.id])
    stand = [canary.content in run.rounds[-1].context.text for canary in ordered]
    assert any(stand)
    assert stand == sorted(stand)
    warnings = "\n".join(compactor.warnings)
    lost = [canary.content for canary, stands in zip(ordered, stand, strict=True) if not stands]
    assert [text for text in lost if text[:30] not in warnings] == []
