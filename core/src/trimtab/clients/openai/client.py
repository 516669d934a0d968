"""Clients of the OpenAI SDK whose requests go through sessions.

The SDK has no middleware. All its helpers (`create`, `parse`, `stream`, raw and streaming responses, sync and async)
end in one method of the client, ``request``. That is overridden, in a subclass that the caller's client is copied into.
Above it one would have to wrap each helper of two resources, and each again for raw responses. Below it, around a
transport, one would work on bytes: parse and rewrite event streams, build requests anew inside the SDK's retries, and
guess the errors that ``request`` raises typed. Its retries happen inside: each sends what was prepared once.

Websockets (``responses.connect``), batches and the server's own ``responses.compact`` do not go through sessions.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Self, TypeVar

import openai
from openai import APIStatusError, LengthFinishReasonError

from trimtab.clients.identity import Chosen
from trimtab.clients.openai.calls import Calls
from trimtab.clients.openai.streams import afollowed, alistened, followed, listened
from trimtab.errors import Unknown
from trimtab.profile import Profile
from trimtab.savings import Saved
from trimtab.session import Session

__all__ = ["compacting", "saved_by", "session_of"]

C = TypeVar("C", bound=openai.OpenAI | openai.AsyncOpenAI)
REFUSALS = (APIStatusError, LengthFinishReasonError)
"""What may say that a request was too large; the second is raised where an answer that was cut off is parsed."""


def compacting(
    client: C, profile: str | Path | Profile | None = None, *, session: Chosen = None, **arguments: Any
) -> C:
    """A copy of ``client`` whose chat completions and responses are kept below the window.

    It is of the client's class and shares its connections; ``client`` itself stays as it is. ``profile`` as
    `Session.open` takes it, whatever its ``kind``; `wrapped_session` tells the session, else ``session``, an id or what
    finds one in a request's body, else ``metadata`` (``session_id``, ``conversation_id``), else the first message.
    ``arguments`` are further ones
    of `Session.open`, as ``ask`` and ``stage_tools``. Raises `ProfileError`, `PluginError`; its requests raise
    `ContextOverflow`, from the provider's error, where nothing makes them fit.

    A stream is handed out with its first word: what comes before may be a refusal. Its usage is asked for where the
    caller did not say whether he wants it (``stream_options``), and that chunk is not handed out.

    Requests with ``previous_response_id`` or ``conversation``, those of askers, and all while TRIMTAB_OFF is set go out
    untouched.
    """
    if not isinstance(client, openai.OpenAI | openai.AsyncOpenAI):
        raise TypeError(f"compacting() takes an openai.OpenAI or openai.AsyncOpenAI, not {type(client).__name__}")
    own: Any = type(client)
    kind = _derived(own, _Async if isinstance(client, openai.AsyncOpenAI) else _Sync)
    made = kind.__new__(kind)
    for name, value in vars(client).items():
        if not isinstance(getattr(kind, name, None), functools.cached_property):  # resources: they hold ``client``
            setattr(made, name, value)
    made._trimtab = Calls(profile, session, arguments)
    copy: C = made
    return copy


def session_of(client: openai.OpenAI | openai.AsyncOpenAI, id: str = "") -> Session:
    """The session with this id: for `explain`, `saved`, `call_tool`.

    Without one that of the `wrapped_session` block around the caller, else that of the client's newest request. Raises
    `Unknown` where there is none.
    """
    return _calls(client).session(id)


def saved_by(client: openai.OpenAI | openai.AsyncOpenAI) -> Saved:
    """What all sessions of the client saved, see `Session.saved`; raises `Unknown` for a client that has none."""
    return _calls(client).saved()


def _calls(client: Any) -> Calls:
    calls = getattr(client, "_trimtab", None)
    if not isinstance(calls, Calls):
        raise Unknown("this client has no sessions: make it with compacting()")
    return calls


class _Copied:
    """What both kinds of clients have: their copies have the same sessions."""

    _trimtab: Calls

    def copy(self, **options: Any) -> Self:
        """See `openai.OpenAI.copy`."""
        client: Any = super()
        return self._shared(client.copy(**options))

    def with_options(self, **options: Any) -> Self:
        """The same; a subclass may have one of its own."""
        client: Any = super()
        return self._shared(client.with_options(**options))

    def _shared(self, made: Self) -> Self:
        made._trimtab = self._trimtab
        return made


class _Sync(_Copied, openai.OpenAI):
    def request(self, cast_to: Any, options: Any, *, stream: bool = False, stream_cls: Any = None) -> Any:
        """See `openai.OpenAI.request`: through a session, as often as it takes."""
        send: Any = functools.partial(super().request, cast_to, stream=stream, stream_cls=stream_cls)
        call = self._trimtab.call(options, stream)
        if call is None or not call.prepare():
            return send(options=options)
        while True:
            try:
                answer = send(options=call.options(functools.partial(followed, call)))
            except REFUSALS as error:
                cut = getattr(error, "completion", None)
                if call.overflowed(cut) if cut else call.recover(error):
                    continue
                raise
            if call.raw and stream:
                return answer
            if stream and listened(call, answer):
                continue
            if not stream and call.overflowed(_said(answer)):
                continue
            return answer


class _Async(_Copied, openai.AsyncOpenAI):
    async def request(self, cast_to: Any, options: Any, *, stream: bool = False, stream_cls: Any = None) -> Any:
        """See `openai.AsyncOpenAI.request`: through a session, as often as it takes."""
        send: Any = functools.partial(super().request, cast_to, stream=stream, stream_cls=stream_cls)
        call = self._trimtab.call(options, stream)
        if call is None or not await call.aprepare():
            return await send(options=options)
        while True:
            try:
                answer = await send(options=call.options(functools.partial(afollowed, call)))
            except REFUSALS as error:
                cut = getattr(error, "completion", None)
                if await call.aoverflowed(cut) if cut else await call.arecover(error):
                    continue
                raise
            if call.raw and stream:
                return answer
            if stream and await alistened(call, answer):
                continue
            if not stream and await call.aoverflowed(await _asaid(answer)):
                continue
            return answer


@functools.cache
def _derived(kind: Any, seam: Any) -> Any:
    """A class that is also one of ours."""
    return kind if issubclass(kind, seam) else type(f"Compacting{kind.__name__}", (seam, kind), {})


def _said(answer: Any) -> Any:
    """What is to be observed of an answer."""
    if http := getattr(answer, "http_response", None):
        http.read()
    return _fields(answer, http)


async def _asaid(answer: Any) -> Any:
    if http := getattr(answer, "http_response", None):
        await http.aread()
    return _fields(answer, http)


def _fields(answer: Any, http: Any) -> Any:
    if http is None:  # a parsed one holds objects of the caller's, which would warn
        return answer.to_dict(warnings=False) if isinstance(answer, openai.BaseModel) else answer
    try:
        return http.json()
    except ValueError:
        return {}
