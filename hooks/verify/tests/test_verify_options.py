"""Options: what cannot be meant is an error that says where."""

from __future__ import annotations

import pytest
from trimtab import ProfileError, load


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"patterns": ["("]}, "valid regular expression"),
        ({"facts": [" "]}, "at least 1 character"),
        ({"on_missing": "shout"}, "shout"),
        ({"fact": ["x"]}, "facts"),
    ],
)
def test_mistakes_are_named(options, words):
    """A broken pattern, a blank fact, an unknown mode, a misspelt key."""
    with pytest.raises(ProfileError, match=words):
        load("minimal", overrides={"hooks": [{"verify": options}]}, env={}, cwd="/")
