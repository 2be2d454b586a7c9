#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each structure check passes on a small sound tree and fails on the same tree with one fault in it."""

import tempfile
import unittest
from pathlib import Path

import check_docs
import check_layers
import check_style
from tree import Tree

ROOMS = """
# floor 0
wavetail_room(base)
# floor 1
wavetail_room(config base USES yaml-cpp)
wavetail_room(event base)
# floor 2
wavetail_room(gpu config)
# floor 3
wavetail_room(report gpu)
"""
OPENING = "// SPDX-License-Identifier: Apache-2.0\n// A part of the machine that does nothing at all.\n#pragma once\n"
PROGRAM = """#!/bin/sh
case $1 in
  --help) printf 'commands:\\n  run SCENARIO\\n  list WHAT\\n' ;;
  list) echo "metric $2" ;;
esac
"""


class Structure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("sim/rooms.cmake", ROOMS)
        self.write("sim/base/check.h", OPENING)
        self.write("sim/config/reader.h", OPENING + '#include "base/check.h"\n')
        self.write("sim/config/reader.cc", OPENING + '#include <yaml-cpp/yaml.h>\n#include "config/reader.h"\n')
        self.write("sim/event/wheel.h", OPENING)
        self.write("sim/gpu/spec.h", OPENING + '#include "base/check.h"\n#include "config/reader.h"\n')
        self.write("sim/report/text.cc", OPENING + '#include <iostream>\n#include "gpu/spec.h"\n')
        self.write("README.md", "```sh\ntools/wavetail run workloads/a.yaml  # one\n```\n"
                   "<!-- output of: wavetail list metrics -->\n```\nmetric metrics\n```\n<!-- end of output -->\n")
        self.write("tools/wavetail", PROGRAM).chmod(0o755)
        self.write("workloads/a.yaml", "name: a\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def append(self, path, text):
        self.write(path, (self.root / path).read_text() + text)

    def problems(self, check):
        return list(check(Tree(self.root, self.root / "tools/wavetail")))

    def assert_only(self, check, part):
        found = self.problems(check)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_sound_tree_has_no_problems(self):
        for check in check_layers.CHECKS + check_style.CHECKS + check_docs.CHECKS:
            self.assertEqual(self.problems(check), [], check.__name__)

    def test_this_tree_is_read(self):
        rooms = Tree(Path(__file__).resolve().parents[2]).rooms
        self.assertGreater(len(rooms), 15)
        self.assertGreater(rooms["cli"].floor, rooms["report"].floor)

    def test_upward_include(self):
        self.append("sim/base/check.h", '#include "gpu/spec.h"\n')
        self.assert_only(check_layers.check_includes, "base/check.h:4: base (floor 0) includes gpu (floor 2)")

    def test_include_on_the_same_floor(self):
        self.append("sim/event/wheel.h", '#include "config/reader.h"\n')
        self.assert_only(check_layers.check_includes, "event (floor 1) includes config (floor 1)")

    def test_include_that_rooms_cmake_does_not_state(self):
        self.append("sim/report/text.cc", '#include "event/wheel.h"\n')
        self.assert_only(check_layers.check_includes, "does not say that report includes event")

    def test_include_of_no_room(self):
        self.append("sim/gpu/spec.h", '#include "spec2.h"\n')
        self.assert_only(check_layers.check_includes, "does not begin with a room")

    def test_include_of_no_file(self):
        self.append("sim/gpu/spec.h", '#include "base/names.h"\n')
        self.assert_only(check_layers.check_includes, "does not exist")

    def test_unknown_folder(self):
        self.write("sim/attic/old.h", OPENING)
        self.assert_only(check_layers.check_rooms, "sim/attic: not a room")

    def test_declared_dependency_goes_up(self):
        self.append("sim/rooms.cmake", "# floor 1\nwavetail_room(stat report)\n")
        self.assert_only(check_layers.check_rooms, "stat (floor 1) includes report (floor 3)")

    def test_declared_dependency_on_no_room(self):
        self.append("sim/rooms.cmake", "wavetail_room(cli reports)\n")
        self.assert_only(check_layers.check_rooms, "'reports', which is no room")

    def test_room_without_floor(self):
        self.write("sim/rooms.cmake", "wavetail_room(unit)\n" + ROOMS)
        self.assert_only(check_layers.check_rooms, "before the first")

    def test_yaml_outside_config(self):
        self.append("sim/gpu/spec.h", "#include <yaml-cpp/yaml.h>\n")
        self.assert_only(check_layers.check_outside_libraries, "does not USE yaml-cpp")

    def test_yaml_declared_outside_config(self):
        self.append("sim/rooms.cmake", "wavetail_room(cli report USES yaml-cpp)\n")
        self.assert_only(check_layers.check_outside_libraries, "only config may")

    def test_printing_below_report(self):
        for line in ("#include <print>", '  std::printf("x");', "  std::cerr << 1;", '  fmt::print("x");'):
            with self.subTest(line):
                self.write("sim/gpu/spec.cc", OPENING + line + "\n")
                self.assert_only(check_layers.check_printing, "prints below report/")

    def test_only_the_abort_report_may_print(self):
        self.write("sim/base/check.cc", OPENING + 'std::fputs("broken", stderr);\n')
        self.assertEqual(self.problems(check_layers.check_printing), [])
        self.write("sim/base/names.cc", OPENING + 'std::fputs("broken", stderr);\n')
        self.assert_only(check_layers.check_printing, "base/names.cc:4: 'fputs('")

    def test_words_about_printing_are_no_printing(self):
        self.write("sim/gpu/spec.cc", OPENING + '// printf("x")\nconst char* kText = "puts(x)"; // puts(x)\n')
        self.assertEqual(self.problems(check_layers.check_printing), [])

    def test_long_file(self):
        self.write("sim/gpu/spec.cc", OPENING + "\n" * 398)
        self.assert_only(check_style.check_file_length, "401 lines; at most 400")

    def test_long_function(self):
        self.write("sim/gpu/spec.cc", OPENING + "int f() {\n" + "  ;\n" * 59 + "}\n")
        self.assert_only(check_style.check_function_length, "sim/gpu/spec.cc:4: f has 61 lines; at most 60")

    def test_long_function_in_a_header(self):
        self.append("sim/gpu/spec.h", "inline int f() {\n" + "  ;\n" * 59 + "}\n")
        self.assert_only(check_style.check_function_length, "f has 61 lines")

    def test_header_without_paragraph(self):
        self.write("sim/gpu/spec.h", "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n")
        self.assert_only(check_style.check_opening, "opens with a paragraph")

    def test_header_without_pragma(self):
        self.write("sim/gpu/spec.h", OPENING.replace("#pragma once\n", ""))
        self.assert_only(check_style.check_opening, "no #pragma once")

    def test_source_without_licence(self):
        self.write("sim/gpu/spec.cc", '#include "gpu/spec.h"\n')
        self.assert_only(check_style.check_opening, "must open with")

    def test_note_left_behind(self):
        self.write("sim/gpu/spec.cc", OPENING + "// TO" "DO later\n")
        self.assert_only(check_style.check_words, "left behind")

    def test_generated_part_differs(self):
        text = (self.root / "README.md").read_text()
        self.write("README.md", text.replace("metric metrics", "metric of yesterday"))
        self.assert_only(check_docs.check_generated, "README.md:6: is not what the program prints")
        check_docs.update(Tree(self.root, self.root / "tools/wavetail"))
        self.assertEqual((self.root / "README.md").read_text(), text)

    def test_abridged_part(self):
        opening = "<!-- abridged output of: wavetail list metrics -->\n"
        for body, sound in (
            ("```\nmetric metrics\n```\n", True),
            ("```\nmetrics ...\n...\n```\n", True),
            ("```\nmetrics metric\n```\n", False),
            ("```\nmetric 5\n```\n", False),
            ("```\nmetric\nmetrics\n```\n", False),
        ):
            with self.subTest(body):
                self.write("README.md", opening + body + "<!-- end of output -->\n")
                found = self.problems(check_docs.check_abridged)
                self.assertEqual(found == [], sound, found)

    def test_command_with_a_file_that_is_not_there(self):
        self.append("README.md", "```\n$ tools/wavetail run workloads/b.yaml\n```\n")
        self.assert_only(check_docs.check_commands, "README.md:10: workloads/b.yaml does not exist")

    def test_tool_that_is_not_there(self):
        self.append("README.md", "```sh\ntools/fly\n```\n")
        self.assert_only(check_docs.check_commands, "tools/fly does not exist")

    def test_command_that_the_program_does_not_know(self):
        self.append("README.md", "```sh\nwavetail fly\n```\n")
        self.assert_only(check_docs.check_commands, "no command 'fly'")


if __name__ == "__main__":
    unittest.main()
