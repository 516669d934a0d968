"""`trimtab profile show|check|schema`: what a profile says, and where."""

from __future__ import annotations

import json
import shlex
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
    """List every value with its origin: file and line, variable, argument or default.

    What needs trust and is not trusted stands at the end; a Python file among it is not run, so its options are not
    listed.
    """
    from trimtab.cli.text import columns
    from trimtab.profile import survey
    from trimtab.yamlfile import shown

    loaded, wanted = survey(profile)
    rows = [{"key": shown(path), "value": value, "origin": loaded.origin(path)} for path, value in values(loaded)]
    for one in wanted:
        if one.state != "trusted":
            origin, _, key = one.where.rpartition(": ")
            rows = [row for row in rows if not (row["value"] == [] and key.startswith(f"{row['key']}["))]
            rows.append({"key": key, "value": one.name, "origin": origin, "trust": one.state})
    if as_json:
        typer.echo(json.dumps({"profile": loaded.name, "values": rows}, indent=2, ensure_ascii=False))
        return
    lines = [(row["key"], json.dumps(row["value"], ensure_ascii=False), row["origin"]) for row in rows]
    for line, row in zip(columns(lines), rows, strict=True):
        typer.echo(f"{line} (not trusted: {row['trust']})" if "trust" in row else line)


@app.command()
def check(profile: Named = None, as_json: AsJson = False) -> None:
    """Say whether a profile can be used, and from what it was read; if not, what is wrong and where (exit code 2)."""
    from pathlib import Path

    from trimtab.profile import load
    from trimtab.provider import resolve
    from trimtab.sources import project
    from trimtab.window import Window

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
    window = Window.of(resolve(loaded.provider).window, loaded.thresholds)
    sizes = (f"{name} at {getattr(window, name):,}" for name in ("warn", "auto", "block"))
    typer.echo(f"window {window.window:,} tokens: {', '.join(sizes)}")
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
    """Raise `TrimtabError` for what a session would meet only later: places, scripts, a stage that nothing can open."""
    from trimtab.errors import ProfileError
    from trimtab.parts import part
    from trimtab.trust import missing
    from trimtab.yamlfile import shown

    for kind, url in profile.storage:
        part(kind, url.partition(":")[0])(url)
    for item in profile.hooks:
        for argv in item.runs():
            if error := missing(argv, item.folder):
                raise ProfileError(f"{error}, which {shlex.join(argv)} needs", where=f"{item.where}: {item.name}")
    for item in profile.stages:
        if item.options.warm != "allow" and any(word.word == "always" for word in item.options.when.words):
            where = f"{item.where}: {shown((*item.path, 'when'))}"
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
        for item in items:
            options = item.options.model_dump(mode="json", warnings=False)
            if isinstance(options, list):  # rules, of which each says only what it needs
                options = item.options.model_dump(mode="json", exclude_defaults=True)
            if item.name != item.path[-1]:
                yield item.path[:2], f"{item.path[-1].removesuffix(f':{item.name}')}:{item.name}"
            if options or item.name == item.path[-1]:
                yield from _leaves(item.path, options)
        if not items:
            yield (key,), []


def _leaves(path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves((*path, key), inner)
    else:
        yield path, value
