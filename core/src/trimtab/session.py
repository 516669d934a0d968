"""A session: one agent's conversation, its ledger, and `prepare` / `observe` around every request."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trimtab.answers import Answers
from trimtab.ask import Asker, adrive, drive
from trimtab.background import Submit, daemon
from trimtab.commit import record
from trimtab.draft import Draft
from trimtab.edits import KERNEL, Note, lasting
from trimtab.engine import Input
from trimtab.errors import Unknown
from trimtab.ledger import Ledger
from trimtab.parts import part
from trimtab.pipeline import ASKED
from trimtab.profile import Profile, load
from trimtab.report import Boundary, Outcome
from trimtab.request import Request
from trimtab.savings import Saved
from trimtab.stores import BlobStore, LedgerStore

__all__ = ["Session"]


class Session(Answers):
    """Opened by `Session.open`; safe to use from several threads, and with other processes on the same store."""

    @classmethod
    def open(
        cls,
        id: str,
        profile: str | Path | Profile | None = None,
        *,
        ask: Asker | None = None,
        clock: Callable[[], float] = time.time,
        background: Submit | None = daemon,
        stage_tools: bool = False,
        plugins: Sequence[Any] = (),
        ledger: LedgerStore | None = None,
        blobs: BlobStore | None = None,
    ) -> Session:
        """A session by id; resumes where the ledger knows it.

        ``profile`` is a name, a path or a loaded profile; ``ask`` answers the questions of stages; ``clock`` gives
        epoch seconds; ``background`` has the work done that `observe` begins (a thread by default, ``executor.submit``,
        or None: at once); with ``stage_tools`` stages may offer the model tools, whose calls the caller hands to
        `call_tool`; ``plugins`` are stage and hook classes or modules that the profile may name beside the installed
        ones; ``ledger`` and ``blobs`` replace the profile's stores. Raises `ProfileError`, `PluginError`,
        `StorageError`.
        """
        loaded = profile if isinstance(profile, Profile) else load(profile, plugins=plugins)
        store = ledger or _store("ledger", loaded.storage.ledger)
        return cls(
            id,
            loaded,
            Ledger(store, blobs or _store("blobs", loaded.storage.blobs), id),
            ask=ask,
            clock=clock,
            background=background,
            stage_tools=stage_tools,
        )

    # ------------------------------------------------------------------ requests

    def prepare(
        self,
        messages: Sequence[Any],
        system: Any = None,
        tools: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Request:
        """The request to send for these messages (the whole history, in the provider's format).

        ``parameters``: what else the request says (model, thinking, tool choice); whoever asks something over the same
        prefix says the same, so that it stays the same. Raises `ContextOverflow` where it cannot be brought below the
        window; any other trouble is reported and the last view plus the new messages is returned (``strict: true``
        raises instead).
        """
        with self.lock:
            return drive(self._prepare(Input(list(messages), system, tools, parameters or {})), self._ask)

    async def aprepare(
        self,
        messages: Sequence[Any],
        system: Any = None,
        tools: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Request:
        """`prepare` for event loops: ``ask`` may return an awaitable."""
        async with self.lock:
            return await adrive(self._prepare(Input(list(messages), system, tools, parameters or {})), self._ask)

    def compact(
        self,
        messages: Sequence[Any] | None = None,
        system: Any = None,
        tools: Any = None,
        *,
        instructions: str = "",
        keep: Any = None,
    ) -> Request:
        """`prepare` with every `when` open and all breakers shut again.

        Without ``messages`` those of the last request. ``instructions`` go to whoever summarises; ``keep`` replaces the
        option of that name: a number of messages, or ``{"tokens": …, "texts": …, "max": …}``.
        """
        with self.lock:
            return drive(self._compact(messages, system, tools, instructions, keep), self._ask)

    async def acompact(
        self,
        messages: Sequence[Any] | None = None,
        system: Any = None,
        tools: Any = None,
        *,
        instructions: str = "",
        keep: Any = None,
    ) -> Request:
        """`compact` for event loops."""
        async with self.lock:
            return await adrive(self._compact(messages, system, tools, instructions, keep), self._ask)

    def recover(self, error: Any, request: Request | None = None) -> Request:
        """A smaller request after the provider refused the last one; send it, and come back if it is refused too.

        ``error`` is what the client raised, or a response that means the same (`observe` tells). One that a smaller
        request does not help is raised as it came. ``request`` is the refused one, where others may have been prepared
        since. Raises `ContextOverflow` where nothing is left to do.
        """
        with self.lock:
            return drive(self._recover(error, request), self._ask)

    async def arecover(self, error: Any, request: Request | None = None) -> Request:
        """`recover` for event loops."""
        async with self.lock:
            return await adrive(self._recover(error, request), self._ask)

    def observe(self, response: Any, request: Request | None = None) -> bool:
        """The provider's answer to the last prepared request, or its usage (a mapping, or `Usage`).

        Corrects the meter and, where the usage says what was read and written, the cache model; starts what stages do
        in the background. True if the answer is no answer, for the request was too large: then call `recover` with it.
        ``request`` is the one it answers: where others were prepared since, the answer only counts in `saved`.
        """
        with self.lock:
            overflow, jobs = self._observe(response, request)
        self.background.go(jobs)
        return overflow

    async def aobserve(self, response: Any, request: Request | None = None) -> bool:
        """`observe` for event loops: background work is a task of the running loop."""
        async with self.lock:
            overflow, jobs = self._observe(response, request)
        await self.background.ago(jobs)
        return overflow

    def call_tool(self, block: Any) -> Any:
        """The result for a call of a stage's tool, to be sent back with the others; None for a call of another tool.

        ``block`` is the call as the model made it. Raises `Unknown` before the first request.
        """
        with self.lock:
            return self._called(block)

    async def acall_tool(self, block: Any) -> Any:
        """`call_tool` for event loops."""
        async with self.lock:
            return self._called(block)

    def notes(self) -> dict[str, Any]:
        """What stages noted, by key: the newest on the path of the last request, before it the newest of all."""
        rows = self.ledger.rows() if self.projection is None else self.projection.rows
        known = {edit.key: edit.data for _, edit in rows if isinstance(edit, Note)}
        known = known if self.projection is None else self.projection.state.notes
        return {key: data for key, data in known.items() if not key.startswith(KERNEL)}

    def saved(self) -> Saved:
        """What it saved since it was opened here, from the usage that `observe` was told."""
        return self.context.savings.total

    def boundaries(self) -> list[Boundary]:
        """The boundaries that were ever made in this session, on all branches, also undone ones, the oldest first."""
        return self.ledger.boundaries()

    def restore(self, decision: int | Outcome) -> None:
        """Undo a decision (its number, or as a report shows it) with the next request, also one of another process.

        Removed thinking stays removed.

        Raises `Unknown` for a number that the ledger does not have, `StorageError`.
        """
        seq = decision.seq if isinstance(decision, Outcome) else decision
        with self.lock:
            self.ledger.reload()
            if not isinstance(seq, int) or not 0 < seq <= len(self.ledger.decisions):
                raise Unknown(f"no decision {seq!r} in session {self.id!r} (decisions: {len(self.ledger.decisions)})")
            if all(map(lasting, self.ledger.decisions[seq - 1].edits)):
                return  # nothing of it can be undone
            touched = sorted(self.ledger.decisions[seq - 1].touches())
            asked = Note(f"{KERNEL}{seq}:{ASKED}", True, touched[0] if touched else "")
            row = record(Draft("restore", [asked]), "manual", self.clock())
            self.ledger.insist(lambda: [row])
            self._replay()

    def explain(self) -> list[dict[str, Any]]:
        """Each recorded edit: decision, stage, kind, why, what it frees, and the way back."""
        return self.ledger.explain()


def _store(kind: str, url: str) -> Any:
    return part(kind, url.partition(":")[0])(url)
