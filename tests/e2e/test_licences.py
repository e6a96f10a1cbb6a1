# SPDX-License-Identifier: Apache-2.0
"""Checks that every file that aotc writes says that it is its user's: 0BSD, as LICENSE promises.

Makes a project of every kind that 'aotc templates list' has, on a board of every platform and framework
where the kind is for boards, the C of a model with everything that adds a file, archives, and what
'templates export' and 'project-server' write, and gives all of it to scripts/check-licences.
"""
import json
import shutil
import tarfile

import common

MODEL = common.ROOT / "tests" / "models" / "ops" / "dense_int8.tflite"  # a small one: what is looked at are the files
# What adds files to the C of a model.
COMPILED = {
    "plain": [],
    "workspace": ["--memory", "workspace"],
    "registry": ["--calling-convention", "registry"],
    "tvm": ["--interface", "tvm"],
    "pools": ["--pool", "fast:2048:fast", "--pool", "slow:65536", "--pool", "tables:65536:constants"],
}


def boards_of(framework):
    """One board of each platform that has the framework (None: bare metal)."""
    chosen = {}
    for path in sorted((common.ROOT / "boards").glob("*/board.json")):
        board = json.loads(path.read_text())
        if path.parent.name != "generic" and (framework is None or framework in board.get("frameworks", {})):
            chosen.setdefault(board["platform"], path.parent.name)
    return list(chosen.values())


def projects(work):
    for path in sorted((common.ROOT / "templates").glob("*/template.json")):
        kind, template = path.parent.name.replace("_", "-"), json.loads(path.read_text())
        made = 0
        boards = boards_of(template.get("framework"))
        for board in boards + ([None] if template.get("board") == "optional" else []):
            folder = work / kind / (board or "no_board")
            source = [work / "operators.tar"] if template.get("takes") == "operators" else [MODEL]
            options = ["--board", board] if board else []
            done = common.aotc("create", *source, "--project", kind, *options, "-o", folder, "--quiet",
                               expect=None)
            if done.returncode != 0 and "[template-board]" not in done.stderr and done.returncode != 3:
                raise common.Failure(f"{kind} for {board}: {done.stderr}")
            made += done.returncode == 0
        if made == 0:
            raise common.Failure(f"no project of kind '{kind}' was made, boards {boards}")
        yield work / kind


def archive(work, name, *options):
    file, folder = work / f"{name}.tar", work / name
    common.aotc("compile", MODEL, *options, "-o", file, "--quiet")
    with tarfile.open(file) as tar:
        common.unpack(tar, folder)
    return folder


def everything(work):
    yield archive(work, "operators", "--style", "operator")
    yield archive(work, "mlf", "--format", "mlf")
    for name, options in COMPILED.items():
        common.aotc("compile", MODEL, *options, "-o", work / name, "--quiet")
        yield work / name
    # A project that has the C runtime beside it.
    common.aotc("create", MODEL, "--board", "qemu_mps2_an386", "--memory", "workspace", "-o",
                work / "runtime", "--quiet")
    yield work / "runtime"
    common.aotc("templates", "export", "-o", work / "templates")
    yield work / "templates"
    common.aotc("project-server", "--template", work / "server")
    yield work / "server"
    yield from projects(work)


def test_licences(tmp_path):
    folders = list(everything(tmp_path))
    checker = common.ROOT / "scripts" / "check-licences"
    print(common.run([checker, "--written", *folders]).splitlines()[-1])
    # The check notices a file whose line is gone, and one that nobody knows.
    for name, text in (("dense_int8.c", "int x;\n"), ("dense_int8.xyz", "")):
        spoiled = tmp_path / "spoiled"
        shutil.copytree(tmp_path / "plain", spoiled, dirs_exist_ok=True)
        (spoiled / name).write_text(text)
        common.run([checker, "--written", spoiled], expect=1)
