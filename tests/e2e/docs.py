#!/usr/bin/env python3
"""Checks what the documentation shows against what it is about.

Usage: docs.py excerpts|slugs|links --work DIR

excerpts  lines of C blocks in docs/emitted-c.md are lines of the files that aotc emits, and C++ blocks
          of docs/adding-an-operator.md are lines of the operator that it walks through
slugs     every slug of a message is explained in docs/errors.md or docs/cli.md
links     files that pages link to or name exist
"""
import argparse
import pathlib
import re

import common

DOCS = common.ROOT / "docs"


def blocks(page, language):
    text = (DOCS / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def absent(page, language, real):
    """Lines of blocks that are not in `real`, with space at both ends ignored."""
    known = {line.strip() for line in real.splitlines()}
    shown = [line for block in blocks(page, language) for line in block.splitlines()]
    if not shown:
        raise common.Failure(f"{page} shows no {language}")
    return [f"{page}: not a line of the real thing: {line}" for line in shown
            if line.strip() not in known | {"", "..."}]


def excerpts(work):
    model = common.ROOT / "tests" / "models" / "digits" / "digits_int8.tflite"
    common.aotc("compile", model, "--prefix", "digits", "-o", work / "digits", "--quiet")
    emitted = "\n".join(p.read_text() for p in sorted((work / "digits").glob("digits*.[ch]")))
    problems = absent("emitted-c.md", "c", emitted)
    operator = common.ROOT / "compiler" / "ops" / "leaky_relu" / "leaky_relu.cpp"
    problems += absent("adding-an-operator.md", "cpp", operator.read_text())
    cases = common.ROOT / "tests" / "ops" / "leaky_relu" / "cases.py"
    problems += absent("adding-an-operator.md", "python", cases.read_text())
    return problems


def slugs(_):
    call = re.compile(r'\b(?:error|warning|note_at)\(\s*[\w().\[\]>:{}*& -]+,\s*"([a-z0-9-]+)"')
    found = set()
    for path in (common.ROOT / "compiler").rglob("*.cpp"):
        found |= set(call.findall(path.read_text()))
    pages = (DOCS / "errors.md").read_text() + (DOCS / "cli.md").read_text()
    explained = set(re.findall(r"^\| `([a-z0-9-]+)` \|", pages, re.M))
    if len(found) < 10 or len(explained) < 10:
        raise common.Failure(f"found {len(found)} slugs in the code, {len(explained)} explained")
    return [f"[{s}] is explained nowhere" for s in sorted(found - explained)]


def links(_):
    pages = [*DOCS.glob("*.md"), *common.ROOT.glob("*.md")]
    problems = []
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            if not (page.parent / target).exists():
                problems.append(f"{page.name}: link to '{target}', which does not exist")
        named = re.findall(r"`((?:compiler|tests|scripts|docs|crt|boards|templates)/[\w./-]+)`", text)
        for target in named:
            if "NAME" not in target and not (common.ROOT / target).exists():
                problems.append(f"{page.name}: names '{target}', which does not exist")
    return problems


def main():
    checks = {f.__name__: f for f in (excerpts, slugs, links)}
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=checks)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    problems = checks[options.check](common.fresh(options.work.resolve()))
    if problems:
        raise common.Failure(f"{len(problems)} problems\n" + "\n".join(problems))
    print(f"{options.check}: nothing wrong")


if __name__ == "__main__":
    common.main_of(main)
