"""What a replay is asked to look at: which files, priced as which model, in which window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from trimtab.errors import TrimtabError
from trimtab.models import AS_OF, MODELS, find
from trimtab.profile import Item, Profile
from trimtab.replay.probe import ProbePins
from trimtab.session import Session
from trimtab.transcripts import Recording

__all__ = ["WINDOW", "Setup", "described", "files", "newest", "notes"]

WINDOW = 200_000
"""Tokens of the window where neither the profile nor the caller says otherwise.

Not the model's own: a session that was recorded in a window of 200k tells nothing about one of a million.
"""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the caller wants other than the profile says; ``ttl`` in seconds, ``seed`` of the probe pins."""

    model: str | None = None
    window: int | None = None
    ttl: float | None = None
    seed: int | None = None

    def adapt(self, profile: Profile, dialect: str) -> Profile:
        """Give the profile as it is replayed on a session of ``dialect``.

        Another model brings its own prices, cache facts, token factor and binding of thinking, whatever the
        profile says of its model. Raises `TrimtabError` where its prices are not known.
        """
        provider = profile.provider
        changes: dict[str, object] = {"kind": dialect, "window": self.window or provider.window or WINDOW}
        cache = provider.cache
        if self.model is not None:
            if find(self.model) is None:
                what = f"no prices are known for the model {self.model!r}"
                raise TrimtabError(what, given=self.model, available=MODELS, label="known")
            cache = type(cache)()
            changes |= {"model": self.model, "price": None, "prefix_bound": None, "factor": None}
        if self.ttl is not None:
            cache = cache.model_copy(update={"ttl": self.ttl})
        hooks = profile.hooks
        if self.seed is not None:
            hooks += (Item(ProbePins.name, ProbePins.Options(seed=self.seed), "--probe-pins", ProbePins),)
        service = provider.model_copy(update={**changes, "cache": cache})
        return profile.model_copy(update={"provider": service, "hooks": hooks})


def described(session: Session) -> str:
    """Say in words what the figures of a session rest on."""
    provider, price = session.provider, session.profile.provider.price
    source = "the profile" if price else AS_OF if provider.known else "nowhere: this model is not known"
    bound = "is" if provider.prefix_bound else "is not"
    return (
        f"model {provider.model}, prices of {source}; cache kept {provider.ttl:g} s; "
        f"window {provider.window:,}; thinking {bound} bound to its prefix; "
        f"tokens counted by {session.counter.name}"
    )


def notes(recording: Recording) -> list[str]:
    """Say what the reader met in a recording, and what it left out."""
    skipped = ", ".join(f"{count:,} {what}" for what, count in recording.skipped.items())
    return [*recording.notes, f"left out: {skipped}"] if skipped else list(recording.notes)


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """Name the files themselves, and of folders all ``.json`` and ``.jsonl`` in them, in order of name."""
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.suffix in (".json", ".jsonl"))
        else:
            yield path


def newest(home: Path) -> Path:
    """Find the session that Claude Code wrote last under ``home``, else the one that is packaged."""
    sessions = (home / ".claude" / "projects").glob("*/*.jsonl")
    found = max(sessions, key=lambda file: file.stat().st_mtime, default=None)
    return found or Path(str(resources.files("trimtab.replay") / "demo.jsonl"))
