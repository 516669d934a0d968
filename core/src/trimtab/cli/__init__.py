"""The command line. A subcommand imports what it needs inside its function, so that `--help` is quick."""

from __future__ import annotations

import errno
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from trimtab.cli import compact, explain, fake_provider, gc, notes, pipe, plugins, profile, replay, sessions, trust
from trimtab.errors import TrimtabError

__all__ = ["app", "main"]


class _Group(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        """Run the command; our own errors and the system's are one line for a person, and exit code 2."""
        try:
            return super().invoke(ctx)
        except TrimtabError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(2) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read our output has gone: typer ends quietly
            place = f"{error.filename}: " if error.filename else ""
            typer.echo(f"{place}{error.strerror or error}", err=True)
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=_Group,
    name="trimtab",
    help="Keep a long LLM-agent conversation inside its context window at the lowest cost, losing nothing.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"trimtab {version('trimtab')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of trimtab itself."""


# One line for each subcommand, in alphabetical order.
app.command("compact")(compact.compact)
app.command("explain")(explain.explain)
app.command("fake-provider")(fake_provider.fake_provider)
app.command("gc")(gc.gc)
app.command("notes")(notes.notes)
app.command("pipe")(pipe.pipe)
app.command("plugins")(plugins.plugins)
app.add_typer(profile.app, name="profile")
app.command("replay")(replay.replay)
app.add_typer(sessions.app, name="sessions")
app.command("trust")(trust.trust)


def main() -> None:
    """Run the command line."""
    app()
