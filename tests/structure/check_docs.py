#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md and docs/ say what the program says. A part between

    <!-- output of: wavetail list metrics -->
    <!-- end of output -->

is what the program prints for that command, in a code fence or not; --update (tools/update_docs) rewrites it.
A part between

    <!-- abridged output of: wavetail run workloads/copy.yaml -->
    <!-- end of output -->

shows some of the lines, in the program's order, and some of their words: columns may be left out, and `...` stands
for what is. Those commands take seconds, so --abridged checks them, and nothing else.
Commands shown in code blocks exist, and so do the files that they name."""

import re
import shlex
import subprocess
import sys

import tree

GENERATED = re.compile(r"(<!-- output of: (.+?) -->\n)(.*?)(<!-- end of output -->)", re.DOTALL)
ABRIDGED = re.compile(r"<!-- abridged output of: (.+?) -->\n(.*?)<!-- end of output -->", re.DOTALL)
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


def is_part_of(few, many):
    """Whether the items of `few` stand in `many` in the same order."""
    rest = iter(many)
    return all(item in rest for item in few)


def shows(line, printed):
    """Whether a printed line has the words of a shown one, in order; "..." ends a list that goes on."""
    return is_part_of([word for word in line.split() if not word.startswith("...")], printed.split())


def check_abridged(t):
    if t.program is None:
        return
    for path in documents(t):
        text = path.read_text()
        for match in ABRIDGED.finditer(text):
            printed = iter(output_of(t, match[1]).splitlines())
            first = text[: match.start(2)].count("\n") + 1
            for number, line in enumerate(match[2].splitlines(), start=first):
                left_out = not line.strip() or line.startswith("```") or line.strip() == "..."
                if not left_out and not any(shows(line, other) for other in printed):
                    yield f"{t.relative(path)}:{number}: is not in what '{match[1]}' prints now, or not in this order"
                    break


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
SLOW_CHECKS = [check_abridged]


def update(t):
    for path in documents(t):
        text = path.read_text()
        path.write_text(regenerated(t, text))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update(tree.Tree(sys.argv[2], sys.argv[3]))
    elif "--abridged" in sys.argv[1:]:
        sys.argv.remove("--abridged")
        tree.run_checks(SLOW_CHECKS, __doc__)
    else:
        tree.run_checks(CHECKS, __doc__)
