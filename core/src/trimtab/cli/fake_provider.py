"""`trimtab fake-provider`: the local provider of the tests, for any agent on this machine."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from trimtab.testing.provider import Served

__all__ = ["fake_provider"]


def fake_provider(
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 takes a free one.")] = 8089,
    window: Annotated[str, typer.Option(metavar="TOKENS", help="The window, as 200k or 1m.")] = "200k",
    prefix_check: Annotated[
        bool, typer.Option("--prefix-check", help="Thinking is valid only behind an unchanged prefix.")
    ] = False,
    rate_limit: Annotated[int, typer.Option(metavar="N", help="Requests a minute; 0 is no limit.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Serve a provider that echoes and keeps the vendors' rules. One line per request; Ctrl-C ends it."""
    from trimtab.testing.provider import FakeProvider, Settings
    from trimtab.values import window as tokens

    try:
        size = tokens(window)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--window") from None
    settings = Settings(window=int(size), prefix_check=prefix_check, rate_limit=rate_limit)
    with FakeProvider(settings=settings, port=port) as provider:
        provider.log = lambda served: typer.echo(json.dumps(_fields(served)) if as_json else _line(served))
        typer.echo(json.dumps({"url": provider.url}) if as_json else provider.url)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            typer.echo("", err=True)


def _fields(served: Served) -> dict[str, object]:
    """What is said of a request: sizes, no content; of an error only its type."""
    billed = served.billed
    error = (served.error or {}).get("error") or {}
    return {
        "api": served.api,
        "status": served.status,
        "read": billed.read,
        "written": billed.written,
        "fresh": billed.fresh,
        "output": billed.output,
        "error": error.get("type"),
    }


def _line(served: Served) -> str:
    fields = _fields(served)
    head = f"{served.api:12} {served.status}"
    if fields["error"]:
        return f"{head}  {fields['error']}"
    return (
        f"{head}  read {fields['read']}  written {fields['written']}  fresh {fields['fresh']}  out {fields['output']}"
    )
