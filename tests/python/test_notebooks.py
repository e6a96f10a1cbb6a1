# SPDX-License-Identifier: Apache-2.0
"""The notebooks of examples/notebooks, run by notebooks.py in this process."""
import sys

import notebooks
import pytest


@pytest.mark.parametrize("path", notebooks.paths(), ids=lambda path: path.stem)
def test_notebooks(path, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(notebooks.ROOT / "python"), *sys.path])
    monkeypatch.setenv("PYTHONPATH", str(notebooks.ROOT / "python"))
    monkeypatch.chdir(notebooks.place(tmp_path))
    notebooks.run_here(path)


def test_there_are_some():
    assert len(notebooks.paths()) >= 3
