"""The options that say over a profile what the server is: shared by the commands that take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from trimtab.provider import Provider

__all__ = ["Model", "Named", "Window", "assumed", "overrides"]

Named = Annotated[
    str | None, typer.Option("--profile", metavar="NAME|PATH", help="A packaged profile's name, or a file.")
]
Model = Annotated[str | None, typer.Option("--model", help="The model: its window, cache facts and token factor.")]
Window = Annotated[str | None, typer.Option("--window", metavar="TOKENS", help="The window, as 200k or 1m.")]


def overrides(
    *, model: str | None, window: str | None, ttl: str | None = None, dialect: str | None = None
) -> dict[str, Any]:
    """The ``provider:`` section that the options ask for; another model brings its own facts, not the profile's."""
    said: dict[str, Any] = {"cache": {}}
    if model is not None:
        said |= {"model": model, "price": None, "prefix_bound": None, "factor": None}
        said["cache"] |= {"ttl": None, "minimum": None, "step": None}
    if window is not None:
        said["window"] = window
    if ttl is not None:
        said["cache"]["ttl"] = ttl
    if dialect is not None:
        said["kind"] = dialect
    return {"provider": said}


def assumed(provider: Provider) -> str:
    """What is assumed of a model that the table of models does not have; empty for a known one."""
    from trimtab.models import nearest

    if provider.known:
        return ""
    near = nearest(provider.model)
    other = f"; did you mean {near!r}?" if near else ""
    return f"the model {provider.model!r} is not known: taken is a window of {provider.window:,} tokens{other}"
