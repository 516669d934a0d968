"""Known models: windows, prices, cache facts. A profile's own `provider:` lines win over these.

Our own table comes first; for a model that it does not have, the library genai-prices is asked where it is installed
(the extra ``prices``).
"""

from __future__ import annotations

import difflib
import re

from trimtab.models.table import AS_OF, MODELS, Model, Prices

__all__ = ["AS_OF", "MODELS", "Model", "Prices", "find", "nearest"]

LONGEST = 200
"""Characters; a longer name is no model's."""

# What may stand behind a known name without another price: a date or release, `latest`, `preview`,
# the million-token mark, a platform's version of a Claude. Anything else (`-pro`, `-fast`, `-7`) is another model.
_TAIL = r"[-@](?:\d{4}(?:-?\d\d){2}|\d{4}|0|latest|preview)|\[1m\]"
_VERSION = r"-v\d+(?::\d+)?"


def find(model: str) -> Model | None:
    """The model that an id, a dated id or a provider's path names; None for an unknown one.

    ``us.anthropic.claude-opus-4-5-20251101-v1:0`` and ``anthropic/claude-opus-4.5`` are ``claude-opus-4-5``.
    """
    if len(model) > LONGEST:
        return None
    known = MODELS.get(_plain(model))
    if known is None:
        from trimtab.models import library

        known = library.find(model.strip())
        if known is not None and _plain(known.name) in MODELS:
            return None  # it goes by how a name begins: a neighbour of one of ours, whose price nobody knows
    return known


def nearest(model: str) -> str | None:
    """The name in our table most like ``model``, for error texts; None where nothing is alike."""
    if len(model) > LONGEST:
        return None
    near = difflib.get_close_matches(_plain(model), MODELS, n=1, cutoff=0.6)
    return near[0] if near else None


def _plain(model: str) -> str:
    """Lower case, no path (`openrouter/anthropic/`), no region (`us.anthropic.`), no tail."""
    name = re.sub(r"^(?:[a-z-]+\.)?anthropic\.", "", model.strip().lower().rpartition("/")[2])
    if name.startswith("claude"):
        return re.sub(rf"(?:{_TAIL}|{_VERSION})+$", "", name.replace(".", "-"))
    return re.sub(rf"(?:{_TAIL})+$", "", name)
