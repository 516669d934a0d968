"""The stage: what of the view is old, and how it is shown from now on."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from trimtab import Evict, Param, Replace, Stage, StageOptions
from trimtab.texts import Known

from trimtab_micro_compact.cleared import clear
from trimtab_micro_compact.digest import digest
from trimtab_micro_compact.evictions import evict
from trimtab_micro_compact.inputs import inputs
from trimtab_micro_compact.options import MicroOptions
from trimtab_micro_compact.server import FEATURE, manage

if TYPE_CHECKING:
    from trimtab.view import View

__all__ = ["MicroCompact"]


class MicroCompact(Stage):
    """Clears old results, or shortens them to a line and the names that nothing else shows."""

    name: ClassVar[str] = "micro-compact"
    Options: ClassVar[type[StageOptions]] = MicroOptions
    options: MicroOptions

    def free(self, view: View) -> Iterator[Evict | Param]:
        """What the provider does costs no cache, or only its own: never both of it on the same results."""
        if view.offers("cache_edits"):
            yield from evict(view, self.options)
        elif view.offers(FEATURE):
            yield from manage(view, self.options)

    def propose(self, view: View) -> Generator[Replace, Any, None]:
        """Oldest first: what lies behind the first edit is written anew whatever follows it."""
        options, known = self.options, Known(view.shown)
        if options.form == "cleared":
            yield from clear(view, options)
        # All digests are made before the first is yielded: each edit would make `view.shown` look at the view anew.
        ours = digest(view, options, known) if options.form == "digest" else ()
        calls = inputs(view, options, known) if options.inputs else ()
        yield from [edit for _, edit in sorted(chain(ours, calls), key=itemgetter(0))]
