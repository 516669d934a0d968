"""`trimtab profile show|check|schema`: what a profile says, and where."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from trimtab.profile import Profile
    from trimtab.yamlfile import KeyPath

__all__ = ["app", "values"]

app = typer.Typer(no_args_is_help=True, help="Show, check or describe profiles.")
Named = Annotated[
    str | None,
    typer.Option("--profile", metavar="NAME|PATH", help="A packaged profile's name, or a file."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def show(profile: Named = None, as_json: AsJson = False) -> None:
    """List every value with its origin: file and line, variable, argument or default."""
    from trimtab.cli.text import columns
    from trimtab.profile import load
    from trimtab.yamlfile import shown

    loaded = load(profile)
    said = [(shown(path), value, loaded.origin(path)) for path, value in values(loaded)]
    if as_json:
        rows = [{"key": key, "value": value, "origin": origin} for key, value, origin in said]
        typer.echo(json.dumps({"profile": loaded.name, "values": rows}, indent=2, ensure_ascii=False))
        return
    for line in columns([(key, json.dumps(value, ensure_ascii=False), origin) for key, value, origin in said]):
        typer.echo(line)


@app.command()
def check(profile: Named = None, as_json: AsJson = False) -> None:
    """Say whether a profile can be used, and from what it was read; if not, what is wrong and where (exit code 2)."""
    from pathlib import Path

    from trimtab.profile import load
    from trimtab.sources import project

    loaded = load(profile)
    _usable(loaded)
    warnings, cwd = list(_warnings(loaded)), Path.cwd()
    listed = {key: [item.name for item in getattr(loaded, key)] for key in ("stages", "hooks")}
    if as_json:
        read = {"sources": loaded.sources, "warnings": warnings}
        typer.echo(json.dumps({"profile": loaded.name, **listed, **read}))
        return
    says = "; ".join(f"{key}: {', '.join(names) or 'none'}" for key, names in listed.items())
    typer.echo(f"{loaded.name}: fine ({says})")
    typer.echo(f"read, the strongest first: {', '.join(loaded.sources)}")
    if project(cwd) is None:
        typer.echo(f"no trimtab.yaml in {cwd} or a folder above it")
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)


def _warnings(profile: Profile) -> Iterator[str]:
    """What can be used, but not as it may be meant: an unknown model, thresholds above their share of the window."""
    from trimtab.cli.provider import assumed
    from trimtab.parts import part
    from trimtab.provider import resolve
    from trimtab.window import SHARES

    provider = resolve(profile.provider)
    if unknown := assumed(provider):
        yield f"{profile.origin(('provider', 'model'))}: {unknown}"
    for feature in sorted(provider.features.keys() - part("dialect", profile.provider.kind)().features):
        origin = profile.origin(("provider", feature))
        yield f"{origin}: {feature} does nothing: the format {profile.provider.kind!r} has no such feature"
    for name, share in SHARES.items():
        said, most = getattr(profile.thresholds, name), int(share * provider.window)
        origin = str(profile.origin(("thresholds", name)))
        if said > most and not origin.startswith("trimtab/configs/"):
            yield (
                f"{origin}: thresholds.{name}: {said:,} is more than its share of a window of {provider.window:,} "
                f"tokens ({100 * share:g} %): {most:,} is used"
            )


def _usable(profile: Profile) -> None:
    """Raise `TrimtabError` for what a session would meet only later: places, and a stage that nothing can open."""
    from trimtab.errors import ProfileError
    from trimtab.parts import part
    from trimtab.yamlfile import shown

    for kind, url in profile.storage:
        part(kind, url.partition(":")[0])(url)
    for n, item in enumerate(profile.stages):
        if item.options.warm != "allow" and any(word.word == "always" for word in item.options.when.words):
            where = f"{item.where}: {shown(('stages', n, item.name, 'when'))}"
            raise ProfileError("always opens nothing without `warm: allow`, which rewrites warm caches", where=where)


@app.command()
def schema() -> None:
    """Print the JSON Schema of profiles, with the options of all installed stages and hooks."""
    from trimtab.cli.schema import profile_schema
    from trimtab.plugins import catalog

    typer.echo(json.dumps(profile_schema(catalog()), indent=2, ensure_ascii=False))


def values(profile: Profile) -> Iterator[tuple[KeyPath, Any]]:
    """Every value of a loaded profile that is not a mapping, by its path, in the order of the sections."""
    for key in type(profile).model_fields:
        if key not in ("stages", "hooks"):
            yield from _leaves((key,), profile.model_dump(mode="json", include={key})[key])
            continue
        items = getattr(profile, key)
        for n, item in enumerate(items):
            yield from _leaves((key, n, item.name), item.options.model_dump(mode="json"))
        if not items:
            yield (key,), []


def _leaves(path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves((*path, key), inner)
    else:
        yield path, value
