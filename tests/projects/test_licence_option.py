# SPDX-License-Identifier: Apache-2.0
"""--license of 'aotc create': in every kind each file that can carry a licence names it, manifests have
the field of their format, and what is no SPDX expression is refused."""
import importlib.machinery
import importlib.util
import json
import re

from kinds import common
from test_all_kinds import KINDS, after_error, boards_of, described, make
import pytest
import yaml

GOOD = ["MIT", "0BSD", "GPL-2.0-or-later", "GPL-2.0+", "MIT OR Apache-2.0", "(MIT AND BSD-3-Clause) OR LicenseRef-Own",
        "GPL-2.0-only WITH Classpath-exception-2.0", "DocumentRef-a.b:LicenseRef-c"]
BAD = ["MIT*/", "*/ int evil; /*", "MIT OR", "OR MIT", "(MIT", "MIT)", "()", "MIT Apache-2.0", "MIT OR OR MIT", "WITH MIT",
       "MIT WITH (X)", "(MIT) WITH X", "MIT WITH X WITH Y", "MIT and X", "NONE", "LicenseRef-", "DocumentRef-:LicenseRef-a", "DocumentRef-a", "a:b", "-", "+", "MIT++", 'MIT"', "M'T",
       "MIT\n", "M\u00cfT", "@prefix@", " ", "a" * 201, "$(x)"]
LOADER = importlib.machinery.SourceFileLoader("check_licences", str(common.ROOT / "scripts" / "check-licences"))
CHECK = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_licences", LOADER))
LOADER.exec_module(CHECK)
LINE = re.compile(r"SPDX-License-Identifier: (.*?)(?: \*/| -->)?$", re.M)
# Where formats of others have a field for it.
FIELDS = {"library.json": lambda text: json.loads(text).get("license"),
          "idf_component.yml": lambda text: yaml.safe_load(text).get("license"),
          "Cargo.toml": lambda text: (re.findall(r'^license = "(.*)"$', text, re.M) or [None])[0]}


def stated(path):
    """What the first two lines of a file say, or None."""
    found = LINE.search("\n".join(path.read_text(errors="replace").split("\n")[:2]))
    return found[1] if found else None


def check_files(project, licence):
    count = fields = 0
    for path in sorted(p for p in project.rglob("*") if p.is_file()):
        if path.name == "LICENSE.txt" or path.suffix == ".md" or CHECK.carries(path):
            # The C of an archive of operators is as it was given.
            given = path.relative_to(project).parts[0] == "operators"
            wanted = "0BSD" if given else licence or ("0BSD" if path.name != "LICENSE.txt" else None)
            if stated(path) != wanted:
                raise common.Failure(f"{path.relative_to(project)} says {stated(path)}, not {wanted}")
            count += 1
        # The example of an ESP-IDF component is no component: its manifest has no licence.
        if path.name in FIELDS and "examples" not in path.relative_to(project).parts:
            if FIELDS[path.name](path.read_text()) != (licence or None):
                raise common.Failure(f"{path.name} has another licence:\n{path.read_text()}")
            fields += 1
    if not (project / "LICENSE.txt").exists():
        raise common.Failure("there is no LICENSE.txt")
    if json.loads((project / "aotc.json").read_text()).get("license", "") != licence:
        raise common.Failure("aotc.json has another licence")
    return count, fields


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("operators") / "operators.tar"
    common.aotc("compile", common.model_path("relu_int8"), "--style", "operator", "-o", path, "--quiet")
    return path


@pytest.mark.parametrize("name", KINDS)
def test_kind(name, archive, tmp_path):
    kind = described()[name]
    board = boards_of(kind)[0] if kind["board"] != "optional" else None
    path = archive if kind["takes"] == "operators" else None
    for folder, licence in (("none", ""), ("given", "MIT OR Apache-2.0")):
        make(name, "relu_int8", board, tmp_path / folder / "project", *(["--license", licence] if licence else []), path=path)
        check_files(tmp_path / folder / "project", licence)
    made = make(name, "relu_int8", board, tmp_path / "bad", "--license", "MIT*/", path=path, expect=None)
    after_error(made, tmp_path / "bad", "license-form")


@pytest.mark.parametrize("licence", GOOD)
def test_good(licence, tmp_path):
    make("make", "relu_int8", None, tmp_path / "good", "--license", licence)
    check_files(tmp_path / "good", licence)


@pytest.mark.parametrize("licence", BAD, ids=[f"{n}" for n in range(len(BAD))])
def test_bad(licence, tmp_path):
    made = make("make", "relu_int8", None, tmp_path / "bad", "--license", licence, expect=None)
    after_error(made, tmp_path / "bad", "license-form")
