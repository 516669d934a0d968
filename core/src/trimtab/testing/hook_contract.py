"""`HookContract`: the tests that every hook should pass, or say why it cannot."""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from trimtab.errors import Veto
from trimtab.hookspecs import hookimpl
from trimtab.request import Request
from trimtab.stage import Hook
from trimtab.testing import material
from trimtab.testing.contract import DIALECTS, EXAMPLES, MISTAKES, Contract, check_name, check_options, walks
from trimtab.testing.strategies import FLAWS
from trimtab.testing.walk import Walk
from trimtab.testing.witness import packed

__all__ = ["HookContract"]

STAGES: list[Any] = ["short", {"summary": {"when": ["cold", {"over": 0.02}]}}]

dialects = pytest.mark.parametrize("dialect", DIALECTS)


class HookContract(Contract):
    """What every hook should do; subclass it as ``Test…`` and name the hook.

    ::

        class TestKeepWords(HookContract):
            hook = KeepWords
            options = {"words": "never push"}

    It runs beside a stage that shortens new results and one that makes boundaries. Overrides are as for
    `StageContract`.
    """

    about = ("hook", Hook)
    hook: ClassVar[type[Hook]]
    options: ClassVar[Mapping[str, Any] | Sequence[Any]] = {}
    """Its options as in a profile."""

    @dialects
    def test_promises_hold(self, dialect: str) -> None:
        """Every request is valid, pinned, stable, frozen, shrunk and stored, whatever happens around it."""
        walks(lambda rng: self._walk(rng, dialect), lambda walk: None, examples=3 * EXAMPLES)

    @dialects
    def test_never_fails(self, dialect: str) -> None:
        """It raises nothing but `Veto`, and its pins and inserts are such as could be accepted."""

        def check(walk: Walk) -> None:
            assert [failure for failure in walk.failures if failure.startswith(f"{self.hook.name}: ")] == []
            refusals: Mapping[str, int] = walk.refusals.get(self.hook.name, {})
            assert [why for why in refusals if any(mistake in why for mistake in MISTAKES)] == []

        walks(lambda rng: self._walk(rng, dialect), check, examples=2 * EXAMPLES)

    @dialects
    def test_survives_small_conversations(self, dialect: str) -> None:
        """Nothing, one message, or only a system message: it does not fail."""
        for messages in material.small(dialect):
            walk = self._walk(random.Random(0), dialect)
            for prepare in (walk.session.prepare, walk.session.compact):
                assert prepare(messages).report.failures == []

    @dialects
    def test_inserts_once(self, dialect: str) -> None:
        """A pass without news inserts nothing, and the third start inserts nothing that the second one did."""
        walk, messages = self._walk(random.Random(0), dialect), material.rounds(dialect, 12)
        for start in range(3):
            walk.session = walk.open() if start else walk.session
            for again in range(2):
                request = walk.session.prepare(messages)
                mine = [one for one in request.report.decisions if one.stage == self.hook.name]
                assert not mine or not (again or start == 2), "a pass without news made a decision"

    @dialects
    def test_failing_costs_only_its_own_effect(self, dialect: str) -> None:
        """Where it raises after all it had to say, the requests are those of a session without it."""
        assert self._requests(dialect, with_it=True) == self._requests(dialect, with_it=False)

    def test_name_is_that_of_an_entry_point(self) -> None:
        """Lower-case words with dashes, as profiles and distributions spell it."""
        check_name(self.hook.name)

    def test_options_are_documented(self) -> None:
        """Every option has a docstring, the model has one, and an editor gets a JSON Schema of it."""
        check_options(self.hook.Options, self.options if isinstance(self.options, Mapping) else ())
        self.hook.Options.model_validate(copy.deepcopy(self.options))

    # ------------------------------------------------------------------

    def _walk(self, rng: random.Random, dialect: str) -> Walk:
        return Walk(
            rng,
            self.hook,
            *material.STAGES,
            dialect=dialect,
            stages=STAGES,
            hooks=[{self.hook.name: copy.deepcopy(self.options)}],
            provider={"prefix_bound": bool(rng.randrange(2))},
            flaws=FLAWS * rng.randrange(2),
            marks=bool(rng.randrange(2)),
        )

    def _requests(self, dialect: str, *, with_it: bool) -> list[list[str]]:
        """The requests of a conversation that grows and grows cold, with the failing hook or without a hook."""
        walk = Walk(
            random.Random(0),
            self.hook,
            *material.STAGES,
            dialect=dialect,
            stages=STAGES,
            hooks=[{self.hook.name: copy.deepcopy(self.options)}] if with_it else [],
            instead={self.hook: failing(self.hook)},
        )
        requests = []
        for count in range(1, 12):
            request: Request = walk.session.prepare(material.rounds(dialect, count))
            requests.append([packed(walk.session.dialect, wire) for wire in request.messages])
            walk.now += 4_000.0 if count % 4 == 0 else 5.0
        return requests


HookContract.contract = HookContract


def failing(hook: type[Hook]) -> type[Hook]:
    """The same hook, but each call raises at its end."""

    def late(name: str) -> Callable[..., Iterator[Any]]:
        method = getattr(hook, name)
        wanted = inspect.signature(method).parameters

        def call(self: Hook, arguments: Mapping[str, Any]) -> Iterator[Any]:
            try:
                yield from method(self, **{key: value for key, value in arguments.items() if key in wanted}) or ()
            except Veto as veto:
                raise RuntimeError("instead of a veto") from veto
            raise RuntimeError("at the end")

        return call

    class Failing(hook):  # type: ignore[valid-type, misc]
        name: ClassVar[str] = hook.name

        if hasattr(hook, "pre_compact"):

            @hookimpl
            def pre_compact(self, view: Any, trigger: Any) -> Iterator[Any]:
                return late("pre_compact")(self, {"view": view, "trigger": trigger})

        if hasattr(hook, "post_compact"):

            @hookimpl
            def post_compact(self, before: Any, after: Any, report: Any) -> Iterator[Any]:
                return late("post_compact")(self, {"before": before, "after": after, "report": report})

        if hasattr(hook, "session_start"):

            @hookimpl
            def session_start(self, session: Any, source: Any, view: Any) -> Iterator[Any]:
                return late("session_start")(self, {"session": session, "source": source, "view": view})

    return Failing
