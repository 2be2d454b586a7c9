#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes of files and functions, how files open, and words that must not stay."""

import json
import re
import subprocess

import tree

MOST_FILE_LINES = 400
MOST_FUNCTION_LINES = 60
SPDX = "// SPDX-License-Identifier: Apache-2.0"
LEFT_BEHIND = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")


def cpp_files(t):
    return t.sources() + t.files("tests/**/*.h", "tests/**/*.cc")


def check_file_length(t):
    for path in cpp_files(t) + t.files("tests/**/*.py", "tools/**/*"):
        lines = sum(1 for _ in tree.numbered_lines(path))
        if lines > MOST_FILE_LINES:
            yield f"{t.relative(path)}:1: {lines} lines; at most {MOST_FILE_LINES}"


def check_function_length(t):
    files = [str(path) for path in cpp_files(t)]
    if not files:
        return
    command = ["ctags", "--output-format=json", "--fields=+ne", "--kinds-C++=f", "--language-force=C++", "-L", "-",
               "-f", "-"]
    tags = subprocess.run(command, input="\n".join(files), capture_output=True, text=True, check=True).stdout
    for tag in map(json.loads, tags.splitlines()):
        lines = tag.get("end", tag["line"]) - tag["line"] + 1
        if lines > MOST_FUNCTION_LINES:
            path = t.relative(t.root / tag["path"])
            yield f"{path}:{tag['line']}: {tag['name']} has {lines} lines; at most {MOST_FUNCTION_LINES}"


def check_opening(t):
    """SPDX line everywhere; a header goes on with a paragraph that says what it is, then #pragma once."""
    for path in cpp_files(t):
        lines = [line for _, line in tree.numbered_lines(path)] + ["", ""]
        if lines[0] != SPDX:
            yield f"{t.relative(path)}:1: must open with '{SPDX}'"
        elif path.suffix == ".h" and not re.match(r"// \S.{20,}", lines[1]):
            yield f"{t.relative(path)}:2: a header opens with a paragraph that says what it is"
        if path.suffix == ".h" and "#pragma once" not in lines:
            yield f"{t.relative(path)}:1: no #pragma once"


def check_words(t):
    """No note to oneself stays behind."""
    for path in cpp_files(t) + t.files("*.md", "docs/**/*.md", "tools/*", "tools/cmake/*", "tests/**/*.py", "sim/*.cmake",
                                       "configs/**/*.yaml", "workloads/**/*.yaml"):
        for number, line in tree.numbered_lines(path):
            if match := LEFT_BEHIND.search(line):
                yield f"{t.relative(path)}:{number}: '{match[0]}' left behind"


CHECKS = [check_file_length, check_function_length, check_opening, check_words]

if __name__ == "__main__":
    tree.run_checks(CHECKS, __doc__)
