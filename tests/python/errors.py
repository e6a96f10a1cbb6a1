# SPDX-License-Identifier: Apache-2.0
"""What tests of the Python package ask of exceptions."""
import pytest


def raises(kind, action, *words):
    """The exception that `action` raises; its text has all words."""
    with pytest.raises(kind) as caught:
        action()
    for word in words:
        assert word in str(caught.value)
    return caught.value
