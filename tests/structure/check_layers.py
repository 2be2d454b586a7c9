#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: a room includes only rooms on lower floors (sim/rooms.cmake), outside libraries stay in
the rooms that declare them, and nothing below report/ prints."""

import re

import tree

# The headers of an outside library, and its name in rooms.cmake.
OUTSIDE = {
    "yaml-cpp/": "yaml-cpp",
    "nlohmann/": "nlohmann_json::nlohmann_json",
    "boost/program_options": "Boost::program_options",
    "Eigen/": "Eigen3::Eigen",
    "oneapi/tbb": "TBB::tbb",
    "tbb/": "TBB::tbb",
    "sqlite3": "SQLite::SQLite3",
}

PRINTING = re.compile(
    r"#\s*include\s*<print>|std::(cout|cerr|clog)\b|fmt::print\b|std::print\b"
    r"|\b(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|fputc|fwrite|perror)\s*\("
)

# Where a broken invariant of our own says so before it aborts; nothing else may print.
ABORTS = "sim/base/check.cc"


def includes(path):
    """(line number, header, is it in quotes) of every #include."""
    for number, line in tree.numbered_lines(path):
        if match := re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line):
            yield number, match[2], match[1] == '"'


def check_rooms(t):
    """The table itself: every folder is a room, every room has a floor and includes known, lower ones."""
    for folder in sorted(p.name for p in (t.root / "sim").iterdir() if p.is_dir()):
        if folder not in t.rooms:
            yield f"sim/{folder}: not a room of sim/rooms.cmake"
    for room in t.rooms.values():
        if room.floor is None:
            yield f"sim/rooms.cmake: room {room.name} stands before the first '# floor N'"
            continue
        for name in room.rooms:
            if name not in t.rooms:
                yield f"sim/rooms.cmake: {room.name} includes '{name}', which is no room"
            elif t.rooms[name].floor >= room.floor:
                yield f"sim/rooms.cmake: {room.name} (floor {room.floor}) includes {name} (floor {t.rooms[name].floor})"


def check_includes(t):
    """Includes go down, to rooms that rooms.cmake says are included, and to files that exist."""
    for path in t.sources():
        room = t.room_of(path)
        if room is None:
            continue  # check_rooms speaks of it
        for number, header, quoted in includes(path):
            if not quoted:
                continue
            place = f"{t.relative(path)}:{number}"
            target = t.rooms.get(header.split("/")[0])
            if "/" not in header or target is None:
                yield f"{place}: \"{header}\" does not begin with a room"
            elif not (t.root / "sim" / header).is_file():
                yield f"{place}: \"{header}\" does not exist"
            elif target.name == room.name:
                continue
            elif target.floor >= room.floor:
                yield (f"{place}: {room.name} (floor {room.floor}) includes {target.name} (floor {target.floor}); "
                       "only lower floors may be included")
            elif target.name not in t.reachable(room):
                yield f"{place}: rooms.cmake does not say that {room.name} includes {target.name}"


def check_outside_libraries(t):
    """A library's headers are seen only in rooms that USE it, YAML only in config."""
    for room in t.rooms.values():
        if "yaml-cpp" in room.uses and room.name != "config":
            yield f"sim/rooms.cmake: {room.name} uses yaml-cpp; only config may"
    for path in t.sources():
        room = t.room_of(path)
        for number, header, _ in includes(path):
            for prefix, library in OUTSIDE.items():
                if header.startswith(prefix) and room is not None and library not in room.uses:
                    yield f"{t.relative(path)}:{number}: <{header}> in a room that does not USE {library}"


def check_printing(t):
    """Nothing below report/ prints."""
    report = t.rooms["report"].floor if "report" in t.rooms else 99
    for path in t.sources():
        room = t.room_of(path)
        if room is None or room.floor is None or room.floor >= report or t.relative(path) == ABORTS:
            continue
        for number, line in tree.numbered_lines(path):
            if match := PRINTING.search(tree.without_comment(line)):
                yield f"{t.relative(path)}:{number}: '{match[0].strip()}' prints below report/"


CHECKS = [check_rooms, check_includes, check_outside_libraries, check_printing]

if __name__ == "__main__":
    tree.run_checks(CHECKS, __doc__)
