"""What a profile may say under ``pins``: a list of rules, or one rule alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, RootModel, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from trimtab import HookOptions
from trimtab.errors import ProfileError
from trimtab.values import Size

__all__ = ["PinsOptions", "Role", "Rule"]

Role = Literal["assistant", "user"]

SELECTORS = ("first", "match", "contains", "file", "last", "tag")
"""A rule has at most one of these, and at least one key that says what it pins."""

BESIDE = {"role": ("contains", "last", "match", "tag"), "tool": ("contains", "last", "match")}
"""What says whose words are meant, and the selectors that it may stand beside."""


def _words(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank; it would pin everything")
    return text


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None
    return text


Words = Annotated[str, AfterValidator(_words)]


class Rule(HookOptions):
    """One selector, or a role or tool alone: then all of it is pinned."""

    first: Role | None = None
    """The first message with text of this role."""
    role: Role | None = None
    """Whose texts are looked at; alone, all of them are pinned."""
    match: Annotated[Words, AfterValidator(_pattern)] | None = None
    """A regular expression, searched in texts of the user (or of ``role``, or in results of ``tool``)."""
    contains: Words | None = None
    """Words, as they are, in texts of the user (or of ``role``, or in results of ``tool``)."""
    file: Words | None = None
    """A path or glob: the newest read of each file that it names."""
    tool: Words | None = None
    """Name or glob, in any case, of the tools whose results are looked at; alone, all of them are pinned."""
    last: Annotated[int, Field(strict=True, ge=1)] | None = None
    """How many of the newest messages with text (of ``role``), or of the newest results of ``tool``."""
    tag: Words | None = None
    """A word by itself in any text or result (or in texts of ``role``)."""
    budget: Size | None = None
    """Tokens that the rule may pin; over it the newest win, and the report names the others."""
    reason: str = ""
    """What `trimtab explain` says of these pins; unless said, the rule."""

    @property
    def why(self) -> str:
        """The reason of its pins."""
        said = ((key, getattr(self, key)) for key in type(self).model_fields)
        return self.reason or ", ".join(f"{key}: {value}" for key, value in said if value not in (None, ""))

    @property
    def moving(self) -> bool:
        """Whether what is said later may take the place of what it pins now."""
        return self.budget is not None or self.file is not None or self.last is not None

    @model_validator(mode="before")
    @classmethod
    def _known(cls, said: Any) -> Any:
        """Name what is available; a list's items have no model that the profile could ask for its keys."""
        for key, value in said.items() if isinstance(said, Mapping) else ():
            if key not in cls.model_fields:
                what = f"no key named {key!r} in a rule of pins"
                raise ValueError(str(ProfileError(what, given=str(key), available=cls.model_fields, label="keys")))
            if value is None:
                raise ValueError(f'{key} is empty; a text that begins with # needs quotes: {key}: "#keep"')
        return said

    @model_validator(mode="after")
    def _one(self) -> Rule:
        said = [key for key in SELECTORS if getattr(self, key) is not None]
        beside = [key for key in BESIDE if getattr(self, key) is not None]
        if not said and not beside:
            raise ValueError(f"the rule does not say what to pin (one of: {', '.join(sorted([*SELECTORS, *BESIDE]))})")
        if len(said) > 1:
            raise ValueError(f"{' and '.join(said)} in one rule; write a rule for each")
        if len(beside) > 1:
            raise ValueError("role and tool in one rule; a tool's results are of no role, write a rule for each")
        for key in beside:
            if said and said[0] not in BESIDE[key]:
                raise ValueError(f"{said[0]} does not go with {key} (what does: {', '.join(BESIDE[key])})")
        return self


class PinsOptions(RootModel[tuple[Rule, ...]]):
    """The rules of ``pins``: a list of mappings, or one mapping."""

    model_config = {"frozen": True, "use_attribute_docstrings": True}

    root: tuple[Rule, ...]
    """Each pins by itself; what two of them pin is pinned once."""

    @model_validator(mode="before")
    @classmethod
    def _listed(cls, said: Any) -> Any:
        if isinstance(said, Mapping):
            return [Rule.model_validate(said)]
        if not isinstance(said, list | tuple) or not said:
            raise ValueError(f'a list of rules is needed (- contains: "#keep"), or one rule, not {said!r}')
        return said

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """An array of rules, or the keys of one."""
        schema = handler.resolve_ref_schema(handler(core))
        rule = handler.resolve_ref_schema(dict(schema["items"]))
        schema |= {"type": ["array", "object"], "properties": rule["properties"], "additionalProperties": False}
        return schema
