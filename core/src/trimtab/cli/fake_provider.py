"""`trimtab fake-provider`: the local provider of the tests, for any agent on this machine, in any language."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.testing.provider import Served

__all__ = ["answers_in", "fake_provider"]

FORMS = (
    *('"text"', '{"text": …}', '{"think": …}', '{"use": NAME, "input": {…}}'),
    *('{"fail": STATUS, "message": …}', "[…], a list of these but for fail"),
)


def fake_provider(
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 takes a free one.")] = 8089,
    window: Annotated[str, typer.Option(metavar="TOKENS", help="The window, as 200k or 1m.")] = "200k",
    script: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A JSON list of answers, given in order; without it, or after it, an echo."),
    ] = None,
    prefix_check: Annotated[
        bool, typer.Option("--prefix-check", help="Thinking is valid only behind an unchanged prefix.")
    ] = False,
    rate_limit: Annotated[int, typer.Option(metavar="N", help="Requests a minute; 0 is no limit.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Serve a provider that keeps the vendors' rules. One line per request; Ctrl-C ends it.

    An answer in a script is a text, {"text": …}, {"think": …}, {"use": NAME, "input": {…}}, a list of these, or
    {"fail": STATUS, "message": …}.
    """
    try:
        from trimtab.testing.provider import FakeProvider, Settings
    except ImportError as error:
        raise TrimtabError(str(error)) from error
    from trimtab.values import window as tokens

    try:
        size = tokens(window)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--window") from None
    settings = Settings(window=int(size), prefix_check=prefix_check, rate_limit=rate_limit)
    provider = FakeProvider(answers_in(script) if script else None, settings, port=port)
    try:
        provider.start()
    except OSError as error:
        raise TrimtabError(f"port {port} on 127.0.0.1: {error.strerror}; --port 0 takes a free one") from error
    with closing(provider):
        provider.log = lambda served: typer.echo(json.dumps(_fields(served)) if as_json else _line(served))
        urls = {"url": provider.url, "anthropic": provider.url, "openai": f"{provider.url}/v1"}
        typer.echo(
            json.dumps(urls) if as_json else f"Anthropic's base URL: {provider.url}   OpenAI's: {provider.url}/v1"
        )
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            typer.echo("", err=True)


def answers_in(path: Path) -> list[Any]:
    """The answers that a file holds; raises `TrimtabError` (file, which one, what, the forms there are)."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TrimtabError(f"cannot be read: {error}", where=str(path)) from error
    if not isinstance(said, list):
        raise TrimtabError("a script is a list of answers", where=str(path), available=FORMS, label="answers")
    return [_answer(one, f"{path}[{n}]") for n, one in enumerate(said)]


def _answer(said: Any, where: str) -> Any:
    from trimtab.testing.provider import Fail, Text, Think, Use

    if isinstance(said, list):
        parts = [_answer(part, f"{where}[{n}]") for n, part in enumerate(said)]
        if not any(isinstance(part, Fail | list) for part in parts):
            return parts
    if isinstance(said, str):
        return Text(said)
    if isinstance(said, Mapping):
        rest = {key: value for key, value in said.items() if key not in ("fail", "text", "think", "use")}
        try:
            if "fail" in said:
                return Fail(int(said["fail"]), **rest)
            if "use" in said and isinstance(rest.get("input", {}), dict):
                return Use(str(said["use"]), **rest)
            if not rest and ("text" in said or "think" in said):
                return Text(str(said["text"])) if "text" in said else Think(str(said["think"]))
        except (TypeError, ValueError):
            pass  # a field too many, or too few
    raise TrimtabError(f"no answer: {json.dumps(said)[:80]}", where=where, available=FORMS, label="answers")


def _fields(served: Served) -> dict[str, object]:
    """What is said of a request: sizes, no content; of an error what the agent was told."""
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
        "message": error.get("message"),
    }


def _line(served: Served) -> str:
    fields = _fields(served)
    head = f"{served.api:12} {served.status}"
    if fields["error"]:
        return f"{head}  {fields['error']}: {fields['message']}"
    return (
        f"{head}  read {fields['read']}  written {fields['written']}  fresh {fields['fresh']}  out {fields['output']}"
    )
