"""Facts, files and patterns that must still be there after a conversation was shortened: a hook for trimtab."""

from __future__ import annotations

from trimtab_verify.hook import Verify
from trimtab_verify.options import VerifyOptions

__all__ = ["Verify", "VerifyOptions"]
