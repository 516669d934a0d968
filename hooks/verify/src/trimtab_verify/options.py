"""What must still be there, and what happens where it is not."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import StringConstraints
from trimtab.stage import HookOptions

__all__ = ["VerifyOptions"]

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class VerifyOptions(HookOptions):
    """The keys of ``verify`` in a profile."""

    facts: tuple[Text, ...] = ()
    """Words that must stay in sight once somebody said them; case and spaces make no difference."""
    files: tuple[Text, ...] = ()
    """Files that must stay in sight, or in reach, once they were read or written; relative ones match any folder."""
    patterns: tuple[re.Pattern[str], ...] = ()
    """Regular expressions; the newest text that one matches must stay in sight."""
    on_missing: Literal["restore", "veto", "warn"] = "restore"
    """Put it back as it was said, refuse the edits that hid it, or only tell the user."""
