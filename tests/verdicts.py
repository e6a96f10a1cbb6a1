# SPDX-License-Identifier: Apache-2.0
"""Verdicts: what compilers, emulators and whole test entries said, stored under a digest of everything that decides it.

A key is the SHA-256 of the command, the content of each file that the command reads, and the versions of its tools. A
changed kernel, flag, input or tool has another key, so it runs. A value is what the command printed and the files that it
wrote. Comparisons with LiteRT are never stored: they run on stored outputs as on new ones.

compile and link steps (`run_step`) are lazy: where a verdict says that the step succeeds, its file is not written until
something needs it. A program that runs (`run_program`) has a verdict of its own; only without one is the program built.

- Verdicts are stored in $XDG_CACHE_HOME/aotc/verdicts, or in the folder that AOTC_VERDICTS names. The oldest are deleted
  at AOTC_VERDICTS_MIB (1,024) MiB.
- A failure is never stored. A damaged entry is a miss. A missing tool fails before any look-up.
- AOTC_NO_VERDICTS=1 runs everything, and stores what passes.
- SAMPLE_PERCENT of the hits, chosen by key and commit, run again: another result is a failure that names the entry.
"""
import argparse
import atexit
import base64
import collections
import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
SAMPLE_PERCENT = 3
MIB = 1 << 20
# Debian packages whose content decides what a compiler, linker or emulator does.
PACKAGES = re.compile(r"^(gcc|g\+\+|cpp|binutils|libc6|libc-dev|libgcc|libstdc\+\+|lib(a|ub|t)san|clang|llvm|libclang|libllvm|"
                      r"lld|qemu|libnewlib|libstdc\+\+-arm|picolibc|avr-libc|simavr|libsimavr|valgrind|cppcheck|arduino|"
                      r"cmake|ninja-build|make|python3(\.\d+)?|python3-minimal|rustc|cargo)(?![a-z])", re.I)
COMPILER = re.compile(r"^(.*-)?(gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(-\d+)?$")
# Such a step writes other files, or prints what the caller reads.
WRITES_MORE = re.compile(r"^(-shared|-S|-E|-M|-MM|-fsyntax-only|-fstack-usage|-save-temps.*|-fdump.*|-fprofile.*|--coverage|"
                         r"-ftest-coverage|-Wl,-Map.*|-Xlinker|-###|--version|-v)$")
SOURCES = {".h", ".hh", ".hpp", ".inc", ".inl", ".c", ".cpp", ".cc", ".S", ".s"}
# What a source reads, by name or by a macro. A name that is nowhere below the folders of -I is the tool's own.
INCLUDES = re.compile(rb"""^[ \t]*(?:#[ \t]*(?:include|include_next|embed)\b|\.(?:incbin|include)\b)[ \t]*(?:["<]([^"<>\n]+)[">]|(\S+))|"""
                      rb"""__has_include[^"<\n]*["<]([^"<>\n]+)[">]""", re.M)


class Failure(Exception):
    """A test failed; the text says how."""


class Disagreement(Failure):
    """A stored verdict and the same commands now differ."""


# --- The store -----------------------------------------------------------------------------------


def default_folder():
    if os.environ.get("AOTC_VERDICTS"):
        return pathlib.Path(os.environ["AOTC_VERDICTS"])
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "aotc" / "verdicts"


class Store:
    """A folder of verdicts. Several processes may use it at once."""

    def __init__(self, folder=None, limit=None):
        self.folder = pathlib.Path(folder or default_folder())
        self.limit = int(os.environ.get("AOTC_VERDICTS_MIB", 1024)) * MIB if limit is None else limit
        self.added = 0

    def path(self, key):
        return self.folder / key[:2] / key[2:]

    def get(self, key):
        """The value of a key, or None. A damaged entry is deleted."""
        path = self.path(key)
        try:
            digest, text = path.read_bytes().split(b"\n", 1)
        except (OSError, ValueError):
            return None
        if digest != hashlib.sha256(key.encode() + text).hexdigest().encode():
            path.unlink(missing_ok=True)
            return None
        try:
            os.utime(path)
        except OSError:
            pass  # another process deleted the entry
        return json.loads(text)

    def put(self, key, value):
        """Stores a value atomically; a full disk or a folder without rights loses the verdict and nothing else."""
        path = self.path(key)
        text = json.dumps(value).encode()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(key.encode() + text).hexdigest().encode() + b"\n" + text)
                os.replace(name, path)
            except BaseException:
                pathlib.Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            print(f"verdicts: {path}: {error.strerror}: not stored", file=sys.stderr)
            return
        self.added += 1
        if self.added % 500 == 0:
            self.prune()

    def remove(self, key):
        self.path(key).unlink(missing_ok=True)

    def prune(self):
        """Deletes the entries that were not used for the longest time, down to nine tenths of the limit."""
        rows = []
        for path in self.folder.glob("??/*"):
            try:
                stat = path.stat()
            except OSError:
                continue
            rows.append((stat.st_mtime, max(stat.st_size, stat.st_blocks * 512), path))
        total = sum(size for _, size, _ in rows)
        if total <= self.limit:
            return
        for _, size, path in sorted(rows):
            path.unlink(missing_ok=True)
            total -= size
            if total <= self.limit * 9 // 10:
                return


@functools.cache
def store():
    return Store()


# --- Keys ----------------------------------------------------------------------------------------


def digest_of(*parts):
    """SHA-256 of texts, bytes, numbers, None, and lists and maps of them, with the boundaries between them."""
    sha = hashlib.sha256()

    def add(part):
        if isinstance(part, bytes):
            sha.update(b"b%d:" % len(part) + part)
        elif isinstance(part, dict):
            add([[str(k), v] for k, v in sorted(part.items())])
        elif isinstance(part, (list, tuple)):
            sha.update(b"[%d:" % len(part))
            for one in part:
                add(one)
        else:
            text = repr(part).encode("utf-8", "surrogateescape")
            sha.update(b"t%d:" % len(text) + text)
    add(parts)
    return sha.hexdigest()


@functools.lru_cache(maxsize=None)
def _content(path, size, mtime, inode):
    del mtime, inode
    sha = hashlib.sha256()
    with open(path, "rb") as file:
        if size <= 4 * MIB:  # where the repository was cloned decides nothing
            sha.update(file.read().replace(os.fsencode(ROOT) + b"/", b"{root}/"))
        while block := file.read(MIB):
            sha.update(block)
    return sha.hexdigest()


def content(path):
    """Digest of a file's bytes."""
    stat = os.stat(path)
    return _content(os.fspath(path), stat.st_size, stat.st_mtime_ns, stat.st_ino)


def tree(folder, without=(), suffixes=None):
    """{relative path: digest} of the files below a folder; `without`: names of folders that do not count."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in without)
        for name in sorted(names):
            path = os.path.join(place, name)
            if suffixes is not None and os.path.splitext(name)[1] not in suffixes:
                continue
            if os.path.isfile(path):
                found[os.path.relpath(path, folder)] = content(path)
    return found


@functools.lru_cache(maxsize=None)
def _names_in(path, size, mtime, inode):
    del size, mtime, inode
    found = INCLUDES.findall(pathlib.Path(path).read_bytes())
    return [(name or asked).decode(errors="replace") for name, _, asked in found], any(macro for _, macro, _ in found)


def included(sources, search):
    """[name, digest] of all files that sources include, found where a compiler looks for them: beside the file that
    includes, then in the folders `search`. Where a macro says what to include, all of these folders count."""
    found, waiting, seen = [], list(sources), set(sources)
    while waiting:
        path = waiting.pop()
        stat = os.stat(path)
        names, by_macro = _names_in(path, stat.st_size, stat.st_mtime_ns, stat.st_ino)
        if by_macro:
            found += [["all", tree(f, without=(".git",), suffixes=SOURCES)] for f in search if not f.startswith("/usr/")]
        for name in names:
            for folder in (os.path.dirname(path), *search):
                other = os.path.normpath(os.path.join(folder, name))
                if os.path.isfile(other):
                    found.append([os.path.basename(path), name, content(other)])
                    if other not in seen and not other.startswith("/usr/"):
                        seen.add(other)
                        waiting.append(other)
                    break
    return sorted(found, key=str)


def need(*tools):
    """The programs' paths; Failure where one is missing."""
    found = [shutil.which(tool) for tool in tools]
    for tool, path in zip(tools, found):
        if path is None:
            raise Failure(f"'{tool}' is not installed; scripts/setup installs it")
    return found


@functools.cache
def packages():
    """Versions of the installed Debian packages that decide verdicts; [] on other systems."""
    try:
        text = pathlib.Path("/var/lib/dpkg/status").read_text(errors="replace")
    except OSError:
        return []
    rows = re.findall(r"^Package: (\S+)\n(?:[^\n]+\n)*?Version: (\S+)$", text, re.M)
    return sorted(f"{name} {version}" for name, version in rows if PACKAGES.match(name))


@functools.cache
def _tool_at(path):
    """Version of a program: its bytes, and of a compiler also those of its parts and of its C library."""
    parts = [content(os.path.realpath(path))]
    if COMPILER.match(os.path.basename(path)):
        for question in ("prog-name=cc1", "prog-name=as", "prog-name=ld", "file-name=libc.a", "file-name=libm.a",
                         "file-name=libgcc.a", "file-name=libc.so.6"):
            said = subprocess.run([path, f"-print-{question}"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  check=False).stdout.strip()
            file = said if os.path.isabs(said) else shutil.which(said) if "prog" in question and said else None
            parts.append(content(os.path.realpath(file)) if file and os.path.isfile(file) else said)
    return digest_of(parts)


def tool(name):
    """Digest of the version of a program; Failure where it is missing."""
    return _tool_at(need(name)[0])


@functools.cache
def python_packages():
    """Names and versions of what Python imports from: LiteRT, numpy, onnxruntime among them."""
    found = []
    for folder in sys.path:
        if folder.endswith(("site-packages", "dist-packages")) and os.path.isdir(folder):
            found += [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info"))]
    return [sys.version, *sorted(found)]


@functools.cache
def own():
    """What counts in every key: this file, and the installed tools."""
    return [content(__file__), *packages()]


def text_of(command, folder=None):
    """A command without the folders of this machine."""
    def plain(word):
        if folder is not None:
            word = word.replace(f"{folder}", "{folder}")
        return word.replace(f"{ROOT}", "{root}")
    return [plain(str(word)) for word in command]


# --- Verdicts ------------------------------------------------------------------------------------


@functools.cache
def commit():
    """What chooses the sample: the commit, or "" outside of git."""
    if "AOTC_COMMIT" in os.environ:
        return os.environ["AOTC_COMMIT"]
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def is_sampled(key):
    percent = float(os.environ.get("AOTC_VERDICTS_SAMPLE", SAMPLE_PERCENT))
    return int(digest_of(key, commit())[:8], 16) % 10000 < percent * 100


COUNTED = ("hits", "misses", "sampled")
counts = collections.Counter()
_lock = threading.Lock()


def count(what):
    with _lock:
        counts[what] += 1


@atexit.register
def log_counts():
    """One line of counts for each process, in the file that AOTC_VERDICTS_LOG names."""
    path = os.environ.get("AOTC_VERDICTS_LOG")
    if path and counts:
        with open(path, "a", encoding="ascii") as file:
            file.write(" ".join(str(counts[name]) for name in COUNTED) + "\n")


def told_counts(path):
    """The sum of all lines, for people."""
    rows = [line.split() for line in pathlib.Path(path).read_text().splitlines()] if os.path.exists(path) else []
    hits, misses, sampled = (sum(int(row[n]) for row in rows) for n in range(len(COUNTED)))
    return f"{hits + sampled:,} verdicts of tools found, of which {sampled:,} ran again and agree or failed; {misses:,} new"


def disabled():
    return os.environ.get("AOTC_NO_VERDICTS", "") not in ("", "0")


def look_up(key):
    """The stored value that counts now: None where there is none, and where all runs."""
    return None if disabled() else store().get(key)


def replaced(value, old, new):
    """A JSON value whose strings have `new` in place of `old`."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [replaced(item, old, new) for item in value]
    if isinstance(value, dict):
        return {replaced(name, old, new): replaced(item, old, new) for name, item in value.items()}
    return value


def remember(what, key, work, same=None, folder=None):
    """work()'s value, which JSON can hold, from the store where the key has one. `what` names the verdict in messages.
    work() raises where the test fails. `same(a, b)` compares a sampled value with the stored one (default: equal).
    The folder of the clone and `folder`, where the work is done, may be others when the value is read: they are stored as
    marks."""
    places = [(f"{path}", mark) for path, mark in ((folder, "{folder}"), (ROOT, "{root}")) if path is not None]

    def here(stored):
        for path, mark in reversed(places):
            stored = replaced(stored, mark, path)
        return stored
    found = look_up(key)
    if found is not None and not is_sampled(key):
        count("hits")
        return here(found["value"])
    value = json.loads(json.dumps(work()))
    for path, mark in places:
        value = replaced(value, path, mark)
    if found is None:
        count("misses")
        store().put(key, {"what": what, "value": value})
        return here(value)
    count("sampled")
    if not (same or (lambda a, b: a == b))(found["value"], value):
        store().remove(key)
        raise Disagreement(f"the stored verdict {store().path(key)} of '{what}' is not what its commands say now; it is deleted. "
                      f"Its key misses something that decides the verdict.\nstored: {str(found['value'])[:1000]}\n"
                      f"now:    {str(value)[:1000]}")
    return here(value)


# --- Compilers, lazily ---------------------------------------------------------------------------


@contextlib.contextmanager
def in_the_making():
    """What this thread opens and starts is part of writing a late file."""
    before = getattr(_making, "now", False)
    _making.now = True
    try:
        yield
    finally:
        _making.now = before


class Step:
    """A command of a compiler that writes one file."""

    def __init__(self, command, options):
        words = command[1:] if os.path.basename(command[0]) == "ccache" else command
        self.command, self.options, self.words = command, options, words
        self.folder = os.path.abspath(options.get("cwd") or ".")
        self.target = self.absolute(words[words.index("-o") + 1])
        self.lock = threading.RLock()
        self.is_made = False
        self.key = self.find_key()

    def absolute(self, word):
        return os.path.normpath(os.path.join(self.folder, word))

    def find_key(self):
        """Files that words name are read, and those that these include."""
        words, named, search, sources = [], [], [], []
        skipped = self.words.index("-o") + 1
        takes_folder = False
        for index, word in enumerate(self.words[1:], 1):
            include = re.match(r"-(?:I|isystem|iquote|idirafter)(.*)$", word)
            path = self.absolute(word)
            if index == skipped:
                continue
            if takes_folder or (include and include[1]):
                search.append(path if takes_folder else self.absolute(include[1]))
                takes_folder = False
            elif include:
                takes_folder = True
            elif path in pending:
                words.append(pending[path].key)
            elif os.path.isfile(path):
                named.append(content(path))
                words.append(os.path.basename(path))
                if os.path.splitext(path)[1] in SOURCES:
                    sources.append(path)
            else:
                # Options name files, too: a linker script, a plug-in.
                parts = [self.absolute(part) for part in re.split(r"[=,]", word) if "/" in part]
                named += [content(part) for part in parts if os.path.isfile(part)]
                words.append(text_of([word], self.folder)[0])
        environment = [self.environment().get(name, "") for name in ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH")]
        return digest_of("step", own(), tool(self.words[0]), os.path.basename(self.words[0]), words, named,
                         included(sources, search), environment)

    def environment(self):
        return self.options.get("env") or os.environ

    def what(self):
        return " ".join(text_of(self.words))

    def make(self):
        """Writes the file, and those that the command reads."""
        with self.lock, in_the_making():
            if self.is_made:
                return
            make(self.words[1:], self.folder, but=self.target, below=False)
            if self.find_key() != self.key:
                raise Failure(f"'{self.target}' is needed now, and what it was made of has changed: {self.what()}")
            self.run()
            self.is_made = True

    def run(self):
        os.makedirs(os.path.dirname(self.target), exist_ok=True)
        done = subprocess.run(self.command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                              **{"timeout": 600, **self.options})
        if done.returncode != 0:
            raise Failure(f"exit code {done.returncode}, not 0: {' '.join(self.command)}\n{done.stdout[-3000:]}"
                          f"{done.stderr[-3000:]}")
        return [done.stdout, done.stderr]


pending = {}  # path: Step or Built that writes it
_making = threading.local()


def _on_use(event, arguments):
    """Writes a late file when Python opens it or starts a program that is or takes it."""
    if event not in ("open", "subprocess.Popen", "ctypes.dlopen") or not pending or getattr(_making, "now", False):
        return
    if event == "subprocess.Popen":
        program, words, folder, _ = arguments
        make([os.fsdecode(w) for w in (program, *words) if w is not None], folder or ".", below=False)
    elif isinstance(arguments[0], (str, bytes, os.PathLike)):
        make([os.fsdecode(arguments[0])], below=False)


sys.addaudithook(_on_use)


def step_of(command, options):
    """The step that a command is, or None."""
    words = command[1:] if os.path.basename(command[0]) == "ccache" else command
    if not words or not COMPILER.match(os.path.basename(words[0])) or words.count("-o") != 1 or words[-1] == "-o":
        return None
    if options.keys() - {"cwd", "env", "timeout"} or any(WRITES_MORE.match(word) for word in words):
        return None
    if words[words.index("-o") + 1].startswith("/dev/"):
        return None
    if any(word.startswith("@") for word in words):
        return None
    return Step(command, options)


def run_step(step):
    """(standard output, standard error) of a compiler's command that succeeds; its file is written when it is needed."""
    pathlib.Path(step.target).unlink(missing_ok=True)

    def work():
        with step.lock, in_the_making():
            make(step.words[1:], step.folder, but=step.target, below=False)
            said = step.run()
            step.is_made = True
        return said
    said = remember(step.what(), step.key, work, folder=step.folder)
    pending[step.target] = step
    return said


class Built:
    """A file that a function writes from inputs with a key."""

    def __init__(self, key, function):
        self.key, self.function, self.is_made, self.lock = key, function, False, threading.RLock()

    def make(self):
        with self.lock, in_the_making():
            if not self.is_made:
                self.is_made = True  # the function runs commands that name the file's folder
                try:
                    self.function()
                except BaseException:
                    self.is_made = False
                    raise


def make(words, folder=".", but=None, below=True):
    """Writes the files that the words name and that a verdict has saved so far; with `below` also those in folders that
    they name."""
    if not pending:
        return
    folder = os.path.abspath(folder)
    for word in words:
        word = str(word)
        for path in {os.path.normpath(os.path.join(folder, part)) for part in (word, *re.split(r"[=,:]", word))}:
            if path != but and path in pending:
                pending[path].make()
            elif below and path != but and os.path.isdir(path):
                for target, step in list(pending.items()):
                    if target.startswith(path + os.sep) and not step.is_made and target != but:
                        step.make()


def forget(command, folder="."):
    """A command that is no step writes what it likes."""
    if pending and "-o" in command[:-1]:
        pending.pop(os.path.abspath(os.path.join(folder, command[command.index("-o") + 1])), None)


# --- Programs ------------------------------------------------------------------------------------


def packed(data):
    return base64.b64encode(zlib.compress(data, 6)).decode()


def unpacked(text):
    return zlib.decompress(base64.b64decode(text))


def program_key(command, reads, folder, more=()):
    """Key of a run, or None where a word names an executable or image of which nothing is known."""
    words, is_known = [], False
    for word in command:
        parts = []
        for part in re.split(r"([=,])", str(word)):
            path = os.path.normpath(os.path.join(folder, part))
            if path in pending:
                is_known = True
                parts.append(pending[path].key)
            else:
                parts.append(os.path.basename(part) if os.path.isabs(part) else part)
        words.append("".join(parts))
    if not is_known:
        return None
    first = os.path.normpath(os.path.join(folder, str(command[0])))
    return digest_of("program", own(), "" if first in pending else tool(str(command[0])), words,
                     [content(path) for path in reads], more)


# Files beside a program that it does not open, though it names them: in assertions and debug information.
NOT_OPENED = SOURCES | {"", ".o", ".a", ".d", ".elf", ".ld", ".map"}


def paths_in(words, folder):
    """The paths that words of a command may name, as words or as parts of them."""
    return {os.path.normpath(os.path.join(folder, part)) for word in words for part in re.split(r"[=,]", str(word)) if part}


def undeclared(command, told, folder):
    """Files that a command names, or that are beside its program and whose names the program holds, and that are not
    among `told`: the verdict would miss what it reads there, and a hit would not write them."""
    told = {os.path.realpath(os.path.join(folder, path)) for path in told}

    def is_new(path):
        return os.path.isfile(path) and path not in pending and os.path.realpath(path) not in told
    found = {path for path in paths_in(command[1:], folder) if is_new(path)}
    for image in paths_in(command, folder) & pending.keys():
        data = pathlib.Path(image).read_bytes()
        found |= {entry.path for entry in os.scandir(os.path.dirname(image))
                  if os.path.splitext(entry.name)[1] not in NOT_OPENED and os.fsencode(entry.name) in data and is_new(entry.path)}
    return sorted(found)


def run_program(command, work, reads=(), writes=(), folder=".", more=()):
    """work()'s value, which runs the command, and the files that it writes. `reads`: files whose content counts; `writes`:
    those that the command writes; `more`: what counts, too. The program itself is a file of run_step or Built.
    Failure where the program names a file that was not told."""
    folder = os.path.abspath(folder)
    key = program_key(command, reads, folder, more)

    def all_of_it():
        make(command, folder)
        text = work()
        if key is not None and (files := undeclared(command, [*reads, *writes], folder)):
            raise Failure(f"{' '.join(map(str, command))} opens files that run_program is not told of, in reads or writes: "
                          f"{', '.join(files)}")
        for path in writes:
            if not os.path.exists(path):
                raise Failure(f"{' '.join(map(str, command))} did not write {path}")
        return {"text": text, "files": [packed(pathlib.Path(path).read_bytes()) for path in writes]}
    if key is None:
        return all_of_it()["text"]
    found = remember(" ".join(text_of(command)), key, all_of_it, folder=folder)
    for path, data in zip(writes, found["files"]):
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(path).write_bytes(unpacked(data))
    return found["text"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prune"], help="deletes the oldest entries of a store that is over its limit")
    parser.add_argument("log", nargs="?", help="what AOTC_VERDICTS_LOG named: prints the sum of its lines")
    options = parser.parse_args()
    store().prune()
    if options.log:
        print(f"test: {told_counts(options.log)}")


if __name__ == "__main__":
    main()
