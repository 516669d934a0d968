"""The sessions behind a client, and one call through one of them: what all clients share."""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trimtab.ask import asking
from trimtab.clients.identity import Chosen, identify, wrapped
from trimtab.engine import switched_off
from trimtab.errors import Unknown, told
from trimtab.parts import part
from trimtab.profile import Profile, load
from trimtab.provider import resolve
from trimtab.request import Request
from trimtab.savings import Saved
from trimtab.session import Session

__all__ = ["Exchange", "Sessions", "derived", "merged"]

MOST = 64
"""Sessions that are kept open: chosen. Beyond, the one used longest ago is let go, and resumed when it comes back."""


_log = logging.getLogger("trimtab")


class Sessions:
    """Sessions by id, opened when first asked for, each with the model that its requests name.

    ``profile`` as `Session.open` takes it; ``kind`` is the dialect of the client, whatever the profile says; for
    ``session`` see `identify`; ``arguments`` are further ones of `Session.open`. Raises `ProfileError`, `PluginError`,
    and `TypeError` for what is no such argument, at once, not in a call.
    """

    def __init__(
        self, profile: str | Path | Profile | None = None, *, kind: str, session: Chosen = None, **arguments: Any
    ) -> None:
        known = inspect.signature(Session.open).parameters.keys() - {"id", "profile"}
        for name in arguments.keys() - known:
            raise TypeError(str(Unknown(f"no argument {name!r}", given=name, available=known, label="arguments")))
        if not (session is None or isinstance(session, str) or callable(session)):
            raise TypeError(f"session is an id, a function of a request's body, or None, not {session!r}")
        self._profile = profile
        self._kind = kind
        self._chosen = session
        self._arguments = arguments
        self._last: Session | None = None
        self._gone = Saved()
        """What those saved that were let go."""
        self._gone = Saved()
        """What sessions saved that are no longer open."""
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._profiles: dict[str, Profile] = {}
        self._read("")

    def of(self, body: Mapping[str, Any], messages: Sequence[Any], named: Iterable[Any]) -> Session | None:
        """The session that a request goes through; None where it goes out as it is.

        That is while TRIMTAB_OFF is set, for an asker's (R22), and where no session can be told, or opened: that is
        logged, and raised where the profile is strict. ``named``: see `identify`.
        """
        if switched_off() or asking.get() is not None or not messages:
            return None
        try:
            id = identify(self._chosen, body, named) or derived(self._kind, messages)
            if not id:
                return None
            session = self._last = self.get(id, str(body.get("model") or ""))
            return session
        except Exception as error:  # a store that cannot be opened must not cost the agent its request
            if self._read("").strict:
                raise
            _log.warning("a request goes out as it is: its session cannot be opened: %s", told(error))
            return None

    @property
    def last(self) -> Session | None:
        """That of the `wrapped_session` block around the caller, else that of the newest request."""
        id = wrapped()
        return self.find(id) if id else self._last

    def saved(self) -> Saved:
        """What all sessions saved, see `Session.saved`."""
        with self._lock:
            return sum((session.saved() for session in self._open.values()), self._gone)

    def get(self, id: str, model: str = "") -> Session:
        """The session with this id, as requests to ``model`` need it; raises `StorageError`."""
        with self._lock:
            session = self._open.get((id, model))
            if session is None:
                session = self._open[id, model] = Session.open(id, self._read(model), **self._arguments)
            self._open.move_to_end((id, model))
            while len(self._open) > MOST:
                self._gone += self._open.popitem(last=False)[1].saved()
            return session

    def find(self, id: str) -> Session | None:
        """The open session with this id that was used last; None where there is none."""
        with self._lock:
            return next((session for (known, _), session in reversed(self._open.items()) if known == id), None)

    def _read(self, model: str) -> Profile:
        """The profile as requests to ``model`` need it; thinking is left to the provider unless it says otherwise."""
        made = self._profiles.get(model)
        if made is None:
            made = self._profile if isinstance(self._profile, Profile) else self._named(model)
            facts = {"kind": self._kind, "drop_block": made.provider.drop_block is not False}
            made = made.model_copy(update={"provider": made.provider.model_copy(update=facts)})
            self._profiles[model] = made
        return made

    def _named(self, model: str) -> Profile:
        """The profile with another model in the place of its own, and that one's facts."""
        said: dict[str, Any] = {"kind": self._kind}
        if not model:
            return self._load(said)
        if model == self._read("").provider.model:
            return self._read("")
        said["model"] = model
        if part("models", "table")(model) is not None:  # what is said of the profile's model is not true of it
            said |= {"price": None, "prefix_bound": None, "factor": None}
        made = self._load(said)
        facts = resolve(made.provider)
        if not facts.known and made.provider.window is None:
            taken = f"taken is a window of {facts.window:,} tokens; say another in the profile, as provider.window"
            _log.warning("the model %r is not known: %s", model, taken)
        return made

    def _load(self, provider: Mapping[str, Any]) -> Profile:
        assert not isinstance(self._profile, Profile)
        plugins = self._arguments.get("plugins", ())
        return load(self._profile, overrides={"provider": provider}, plugins=plugins)


class Exchange:
    """One call through a session: `prepare`, then `observe` or `recover`.

    Other calls of the same session may come in between: all speak of the request that this one prepared.
    """

    def __init__(
        self, session: Session, messages: Sequence[Any], system: Any, tools: Any, parameters: Mapping[str, Any]
    ) -> None:
        self.session = session
        self._given = (messages, system, tools, parameters)
        self.request: Request | None = None
        """The last one that was prepared."""

    def prepare(self) -> Request:
        """See `Session.prepare`."""
        self.request = self.session.prepare(*self._given)
        return self.request

    async def aprepare(self) -> Request:
        """`prepare` for event loops."""
        self.request = await self.session.aprepare(*self._given)
        return self.request

    def observe(self, response: Any) -> bool:
        """See `Session.observe`."""
        return self.session.observe(response, self.request)

    async def aobserve(self, response: Any) -> bool:
        """`observe` for event loops."""
        return await self.session.aobserve(response, self.request)

    def recover(self, error: Any) -> Request:
        """See `Session.recover`."""
        self.request = self.session.recover(error, self.request)
        return self.request

    async def arecover(self, error: Any) -> Request:
        """`recover` for event loops."""
        self.request = await self.session.arecover(error, self.request)
        return self.request


def derived(kind: str, messages: Sequence[Any]) -> str:
    """An id from the first message that is not the system's: the same conversation has it again, also after a restart.

    Empty where there is none, or where it cannot be read.
    """
    dialect = part("dialect", kind)()
    for message in messages:
        try:
            plain = dialect.canonical(dialect.plain(message))
        except (TypeError, ValueError):
            return ""
        if plain.get("role") not in ("developer", "system"):
            said = json.dumps(plain, sort_keys=True, default=str).encode("utf-8", "replace")
            return f"{kind}-{hashlib.sha256(said).hexdigest()[:24]}"
    return ""


def merged(parameters: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """A request's parameters with `Request.extra` in them: mappings merge, ``betas`` add up, what is ours wins."""
    made = dict(parameters)
    for key, value in extra.items():
        said = made.get(key)
        if key == "betas":
            made[key] = list(dict.fromkeys([*(said or ()), *value]))
        elif isinstance(said, Mapping) and isinstance(value, Mapping):
            made[key] = merged(said, value)
        else:
            made[key] = value
    return made
