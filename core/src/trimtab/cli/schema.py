"""The JSON Schema of profiles, with the options of all installed plugins, for editors."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from trimtab.plugins import Catalog, Found
from trimtab.profile import Profile
from trimtab.stage import When

__all__ = ["options_schema", "profile_schema"]


FILE = r"^(\./|\.\./|/|~)|\.py(:|$)"
"""What the name of a Python file looks like, with or without that of a class in it."""


class _Schema(GenerateJsonSchema):
    def encode_default(self, dft: Any) -> Any:
        """Write the default of a ``when`` as a profile would."""
        return super().encode_default(dft.plain() if isinstance(dft, When) else dft)


def options_schema(options: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """The schema of one plugin's options; ``prefix`` keeps the names of their parts apart from another's."""
    template = f"#/$defs/{prefix}{{model}}"
    return {"properties": {}, **options.model_json_schema(schema_generator=_Schema, ref_template=template)}


def profile_schema(catalog: Catalog) -> dict[str, Any]:
    """The schema of a profile file. Nothing in it is required, because a file may extend another."""
    schema = Profile.model_json_schema(schema_generator=_Schema)
    parts = schema.setdefault("$defs", {})
    for part in [schema, *parts.values()]:
        part.pop("required", None)
    for key, table in (("stages", catalog.stages), ("hooks", catalog.hooks)):
        listed = schema["properties"][key]
        listed.update({"type": "array", "items": _item(table, parts)})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _item(table: dict[str, Found], parts: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, found in sorted(table.items()):
        schema = options_schema(found.cls.Options, f"{name}.")
        parts |= {f"{name}.{part}": value for part, value in schema.pop("$defs", {}).items()}
        options[name] = {"anyOf": [schema, {"type": "null"}]}
    mapping = {
        "type": "object",
        "properties": options,
        "patternProperties": {FILE: {"type": ["object", "null"]}},
        "additionalProperties": False,
        "maxProperties": 1,
    }
    return {"anyOf": [{"enum": sorted(table)}, mapping, {"type": "string", "pattern": FILE}]}
