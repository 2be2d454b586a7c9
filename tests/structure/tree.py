# SPDX-License-Identifier: Apache-2.0
"""What the structure checks share: the rooms as sim/rooms.cmake declares them, source files, and the frame of a
check (a function from a Tree to problems, each `path:line: what is wrong`)."""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Room:
    name: str
    floor: int
    rooms: list = field(default_factory=list)  # what it says it includes
    uses: list = field(default_factory=list)  # outside libraries


class Tree:
    """A source tree. `program` is the built wavetail, or None."""

    def __init__(self, root, program=None):
        self.root = Path(root)
        self.program = Path(program) if program and Path(program).exists() else None
        self.rooms = self._read_rooms()

    def _read_rooms(self):
        rooms, floor = {}, None
        path = self.root / "sim/rooms.cmake"
        text = path.read_text() if path.exists() else ""
        for line in text.splitlines():
            if match := re.match(r"# floor (\d+)\b", line):
                floor = int(match[1])
            if match := re.match(r"wavetail_room\((\w+)([^)]*)\)", line):
                used, _, outside = match[2].partition("USES")
                rooms[match[1]] = Room(match[1], floor, used.split(), outside.split())
        return rooms

    def files(self, *patterns):
        """Paths below the root that match, sorted."""
        return sorted({path for pattern in patterns for path in self.root.glob(pattern) if path.is_file()})

    def sources(self):
        return self.files("sim/**/*.h", "sim/**/*.cc")

    def relative(self, path):
        return path.relative_to(self.root).as_posix()

    def room_of(self, path):
        """The room that a file of sim/ lies in, or None if no such room is declared."""
        return self.rooms.get(path.relative_to(self.root / "sim").parts[0])

    def reachable(self, room):
        """Names of the rooms that `room` includes, directly or through another."""
        seen, queue = set(), list(room.rooms)
        while queue:
            name = queue.pop()
            if name not in seen:
                seen.add(name)
                queue += self.rooms[name].rooms if name in self.rooms else []
        return seen


def numbered_lines(path):
    return enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)


def without_comment(line):
    """A line of C++ without its // comment and its string literals."""
    return re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0]


def run_checks(checks, description):
    """The main function of a check_*.py: prints problems, exits 1 if there are any."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2])
    parser.add_argument("--program", help="the built wavetail")
    arguments = parser.parse_args()
    tree = Tree(arguments.root, arguments.program)
    problems = [problem for check in checks for problem in check(tree)]
    print("\n".join(problems))
    print(f"{len(checks)} checks, {len(problems)} problems")
    sys.exit(bool(problems))
