"""`trimtab plugins`: what is installed, from which distribution, with which options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from trimtab.plugins import Catalog

__all__ = ["plugins", "rows"]

COLUMNS = ("name", "kind", "distribution", "version", "options")


def plugins(
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects.")] = False,
) -> None:
    """List the installed stages and hooks, and the plugins that cannot be used."""
    import json

    from trimtab.cli.text import columns
    from trimtab.plugins import catalog

    found = rows(catalog())
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    cells = [
        [*(row[key] for key in COLUMNS[:-1]), row.get("error") or ", ".join(row["options"]["properties"])]
        for row in found
    ]
    for line in columns([[key.upper() for key in COLUMNS], *cells]):
        typer.echo(line)


def rows(catalog: Catalog) -> list[dict[str, Any]]:
    """One object per stage, hook and broken plugin (with ``error``); ``options`` is a JSON Schema, whole."""
    from trimtab.cli.schema import options_schema

    items = sorted(
        (*catalog.stages.values(), *catalog.hooks.values()), key=lambda item: (item.kind != "stage", item.name)
    )
    found = []
    for item in (*items, *catalog.broken):
        row = {key: getattr(item, key) for key in COLUMNS[:-1]}
        row["options"] = options_schema(item.cls.Options) if item.cls else {}
        found.append(row if item.cls else {**row, "error": item.error})
    return found
