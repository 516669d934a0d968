"""What a replay is asked to look at: which files, priced as which model, in which window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from trimtab.errors import TrimtabError
from trimtab.models import MODELS, find
from trimtab.profile import Item, Profile
from trimtab.replay.probe import ProbePins
from trimtab.session import Session
from trimtab.transcripts import Recording

__all__ = ["WINDOW", "Setup", "answered", "described", "files", "newest", "notes"]

WINDOW = 200_000
"""Tokens of the window where neither the profile nor the caller says otherwise, or the model's where that is smaller.

Not a larger one: a session that was recorded in a window of 200k tells nothing about one of a million.
"""

SUFFIXES = (".json", ".jsonl", ".traj")


@dataclass(frozen=True, slots=True)
class Setup:
    """What the caller wants other than the profile says; ``ttl`` in seconds, ``seed`` of the probe pins."""

    model: str | None = None
    window: int | None = None
    ttl: float | None = None
    seed: int | None = None

    def adapt(self, profile: Profile, recording: Recording) -> Profile:
        """Give the profile as it is replayed on one session.

        The model is the caller's, else the profile's; but where the session speaks another dialect than the
        profile, the one that answered in it, if that one is known. Another model than the profile's brings its own
        prices, cache facts, token factor and binding of thinking, whatever the profile says of its model. Raises
        `TrimtabError` where the prices of the caller's model are not known.
        """
        provider = profile.provider
        model = self.model
        if model is not None and find(model) is None:
            what = f"no prices are known for the model {model!r}"
            raise TrimtabError(what, given=model, available=MODELS, label="known")
        if model is None and recording.dialect != provider.kind and find(answered(recording)):
            model = answered(recording)
        changes: dict[str, object] = {"kind": recording.dialect}
        cache = provider.cache
        if model is not None:
            cache = type(cache)()
            changes |= {"model": model, "price": None, "prefix_bound": None, "factor": None}
        known = find(model or provider.model)
        changes["window"] = self.window or provider.window or min(known.window if known else 0, WINDOW) or WINDOW
        if self.ttl is not None:
            cache = cache.model_copy(update={"ttl": self.ttl})
        hooks = profile.hooks
        if self.seed is not None:
            hooks += (Item(ProbePins.name, ProbePins.Options(seed=self.seed), "--probe-pins", ProbePins),)
        service = provider.model_copy(update={**changes, "cache": cache})
        return profile.model_copy(update={"provider": service, "hooks": hooks})


def answered(recording: Recording) -> str:
    """The model that answered most requests of a recording; "" where none is recorded."""
    models = Counter(request.model for request in recording.requests if request.model)
    return models.most_common(1)[0][0] if models else ""


def described(session: Session, recording: Recording) -> str:
    """Say in words what the figures of a session rest on."""
    provider, price, known = session.provider, session.profile.provider.price, find(session.provider.model)
    source = "the profile" if price else known.source if known else "nowhere: this model is not known"
    recorded = answered(recording)
    model = provider.model if recorded in ("", provider.model) else f"{provider.model} (recorded: {recorded})"
    bound = "is" if provider.prefix_bound else "is not"
    return (
        f"model {model}, prices of {source}; cache kept {provider.ttl:g} s; "
        f"window {provider.window:,}; thinking {bound} bound to its prefix; "
        f"tokens counted by {session.counter.name}"
    )


def notes(recording: Recording) -> list[str]:
    """Say what the reader met in a recording, and what it left out."""
    skipped = ", ".join(f"{count:,} {what}" for what, count in recording.skipped.items())
    return [*recording.notes, f"left out: {skipped}"] if skipped else list(recording.notes)


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """Name the files themselves, and of folders all ``.json``, ``.jsonl`` and ``.traj``, in order of name."""
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        else:
            yield path


def newest(home: Path) -> Path:
    """Find the session that Claude Code wrote last under ``home``, else the one that is packaged."""
    sessions = (home / ".claude" / "projects").glob("*/*.jsonl")
    found = max(sessions, key=lambda file: file.stat().st_mtime, default=None)
    return found or Path(str(resources.files("trimtab.replay") / "demo.jsonl"))
