"""Options: what cannot be meant is an error that says where."""

from __future__ import annotations

import pytest
from trimtab import ProfileError, load
from trimtab_verify import VerifyOptions


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"patterns": ["("]}, r"patterns\[0\]: \( is no regular expression: missing \)"),
        ({"patterns": ["x{99999999999}"]}, "no regular expression: the repetition number is too large"),
        ({"patterns": [" "]}, "a regular expression is needed, not ' '"),
        ({"facts": 5}, "facts: a text or a list of texts is needed, not 5"),
        ({"facts": []}, "nothing to look for; name facts, files or patterns"),
        (None, "nothing to look for"),
        ({"facts": [" "]}, "at least 1 character"),
        ({"on_missing": "shout"}, "shout"),
        ({"fact": ["x"]}, "facts"),
    ],
)
def test_mistakes_are_named(options, words):
    """A broken or blank pattern, a blank fact, nothing at all, an unknown mode, a misspelt key."""
    with pytest.raises(ProfileError, match=words):
        load("minimal", overrides={"hooks": [{"verify": options}]}, env={}, cwd="/")


@pytest.mark.parametrize("key", ["facts", "files", "patterns"])
def test_a_single_text_is_a_list_of_one(key):
    """No brackets are needed."""
    assert VerifyOptions.model_validate({key: r"a\d"}) == VerifyOptions.model_validate({key: [r"a\d"]})
    assert "anyOf" in VerifyOptions.model_json_schema()["properties"][key]
