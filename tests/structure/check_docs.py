#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md and docs/ say what the program says. A part between

    <!-- output of: wavetail list metrics -->
    <!-- end of output -->

is what the program prints for that command, in a code fence or not; --update (tools/update_docs) rewrites it.
Commands shown in code blocks exist, and so do the files that they name."""

import re
import shlex
import subprocess
import sys

import tree

GENERATED = re.compile(r"(<!-- output of: (.+?) -->\n)(.*?)(<!-- end of output -->)", re.DOTALL)
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
OWN_PATH = re.compile(r"^(workloads|configs|docs|tools|tests)/[\w./-]+$")


def documents(t):
    return t.files("README.md", "docs/**/*.md")


def output_of(t, command):
    words = shlex.split(command)
    if words[0] not in ("wavetail", "tools/wavetail"):
        raise ValueError(f"'{command}' is no wavetail command")
    run = subprocess.run([t.program, *words[1:]], cwd=t.root, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         check=False)
    return run.stdout


def regenerated(t, text):
    """The text of a document with its generated parts as the program now has them."""

    def replace(match):
        opening, command, body, closing = match.groups()
        fence = re.match(r"```\w*\n", body)
        output = output_of(t, command).rstrip("\n") + "\n"
        return opening + (f"{fence[0]}{output}```\n" if fence else output) + closing

    return GENERATED.sub(replace, text)


def check_generated(t):
    if t.program is None:
        return
    for path in documents(t):
        text = path.read_text()
        if regenerated(t, text) != text:
            for number, (now, then) in enumerate(zip(regenerated(t, text).splitlines(), text.splitlines()), start=1):
                if now != then:
                    break
            yield f"{t.relative(path)}:{number}: is not what the program prints now; run tools/update_docs"


def commands(text):
    """(line number, words) of the commands in a document's code blocks."""
    for block in FENCED.finditer(text):
        first = text[: block.start(1)].count("\n") + 1
        for number, line in enumerate(block[1].splitlines(), start=first):
            line = line.removeprefix("$ ")
            if re.match(r"(tools/|\.ci/|wavetail )", line):
                yield number, shlex.split(line, comments=True)


def subcommands(t):
    shown = subprocess.run([t.program, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return set(re.findall(r"^\s+(?:wavetail )?(\w+)", shown.stdout, re.MULTILINE))


def check_commands(t):
    """A command shown to the reader is there, its subcommand too, and the files that it names."""
    known = subcommands(t) if t.program else None
    for path in documents(t):
        for number, words in commands(path.read_text()):
            place = f"{t.relative(path)}:{number}"
            for word in words:
                if OWN_PATH.match(word) and not (t.root / word).exists():
                    yield f"{place}: {word} does not exist"
            program = words[0] in ("wavetail", "tools/wavetail")
            if program and known and len(words) > 1 and re.match(r"\w", words[1]) and words[1] not in known:
                yield f"{place}: the program knows no command '{words[1]}'"


CHECKS = [check_generated, check_commands]


def update(t):
    for path in documents(t):
        text = path.read_text()
        path.write_text(regenerated(t, text))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update(tree.Tree(sys.argv[2], sys.argv[3]))
    else:
        tree.run_checks(CHECKS, __doc__)
