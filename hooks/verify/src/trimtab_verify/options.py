"""What must still be there, and what happens where it is not."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, StringConstraints, model_validator
from trimtab.stage import HookOptions

__all__ = ["VerifyOptions"]


def _listed(said: Any) -> Any:
    if isinstance(said, str):
        return [said]
    if not isinstance(said, list | tuple):
        raise ValueError(f"a text or a list of texts is needed, not {said!r}")
    return said


def _pattern(said: Any) -> re.Pattern[str]:
    if isinstance(said, re.Pattern):
        return said
    if not isinstance(said, str) or not said.strip():
        raise ValueError(f"a regular expression is needed, not {said!r}")
    try:
        return re.compile(said)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{said} is no regular expression: {error}") from None


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed, list[str] | str)]
Patterns = Annotated[
    tuple[Annotated[re.Pattern[str], BeforeValidator(_pattern, str)], ...], BeforeValidator(_listed, list[str] | str)
]


class VerifyOptions(HookOptions):
    """The keys of ``verify`` in a profile."""

    facts: Texts = ()
    """Words that must stay in sight once somebody said them; case and spaces make no difference."""
    files: Texts = ()
    """Files that must stay in sight, or in reach, once they were read or written; relative ones match any folder."""
    patterns: Patterns = ()
    """Regular expressions; the newest text that one matches must stay in sight."""
    on_missing: Literal["restore", "veto", "warn"] = "restore"
    """Put it back as it was said, refuse the edits that hid it, or only tell the user."""

    @model_validator(mode="after")
    def _something(self) -> VerifyOptions:
        if not (self.facts or self.files or self.patterns):
            raise ValueError("nothing to look for; name facts, files or patterns")
        return self
