#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/wavetail as scripts call it: standard output, standard input and the exit code belong to the program, a
broken build exits with 70, calls at once take turns, and apt is asked only for what is missing."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
add_executable(wavetail main.cc)
set_target_properties(wavetail PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
"""
MAIN = """
#include <cstdlib>
#include <iostream>
#include <string>
int main(int argc, char** argv) {
  std::string line;
  if (argc > 2) { while (std::getline(std::cin, line)) { std::cout << "read " << line << "\\n"; } }
  std::cout << "ran\\n";
  return std::atoi(argv[1]);
}
"""
# Says that everything in $INSTALLED is there; $APT_LOG gets every call of apt-get, which installs in $INSTALLED.
DPKG_QUERY = """#!/bin/bash
shift 2
for name; do if grep -qx "$name" "$INSTALLED"; then echo "$name ii "; fi; done
"""
APT_GET = """#!/bin/bash
read -t 0.1 -r line && echo "stole $line" >> "$APT_LOG"
echo "noise of apt"
echo "$*" >> "$APT_LOG"
[[ $* == *fail-me* ]] && { echo "E: Unable to locate package fail-me"; exit 100; }
for word; do echo "$word" >> "$INSTALLED"; done
"""


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "a tree"
        shutil.copytree(ROOT / "tools", self.root / "tools")
        shutil.copy(ROOT / "CMakePresets.json", self.root)
        self.write("CMakeLists.txt", CMAKE)
        self.write("main.cc", MAIN)
        self.installed = self.write("installed", "")
        self.apt_log = self.write("apt.log", "")
        self.write("bin/dpkg-query", DPKG_QUERY).chmod(0o755)
        self.write("bin/apt-get", APT_GET).chmod(0o755)
        self.write("bin/sudo", '#!/bin/bash\nexec "$@"\n').chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{self.root}/bin:{os.environ['PATH']}",
                                INSTALLED=str(self.installed), APT_LOG=str(self.apt_log))

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def start(self, *arguments):
        return subprocess.Popen([self.root / "tools/wavetail", *arguments], cwd="/", env=self.environment, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def call(self, *arguments, text=""):
        process = self.start(*arguments)
        out, error = process.communicate(text)
        return process.returncode, out, error

    def test_program_keeps_its_streams_and_exit_code(self):
        code, out, error = self.call("3", "-", text="a line\n")
        self.assertEqual((code, out), (3, "read a line\nran\n"))
        self.assertIn("installing", error)
        code, out, error = self.call("0")
        self.assertEqual((code, out, error), (0, "ran\n", ""))

    def test_nothing_to_do_takes_no_time(self):
        self.call("0")
        start = time.monotonic()
        self.call("0")
        self.assertLess(time.monotonic() - start, 1.0)  # 0.04 s on an idle machine

    def test_a_change_is_built(self):
        self.call("0")
        self.write("main.cc", MAIN.replace("ran", "ran anew"))
        self.assertEqual(self.call("0")[1], "ran anew\n")

    def test_a_broken_build_exits_with_70_and_says_why(self):
        self.call("0")
        self.write("main.cc", "int main() { return missing; }\n")
        code, out, error = self.call("0")
        self.assertEqual((code, out), (70, ""))
        self.assertIn("missing", error)
        self.write("main.cc", MAIN)
        self.assertEqual(self.call("0"), (0, "ran\n", ""))

    def test_a_broken_configuration_exits_with_70_and_is_tried_again(self):
        self.write("CMakeLists.txt", CMAKE + "find_package(surely_not_there REQUIRED)\n")
        code, out, error = self.call("0")
        self.assertEqual((code, out), (70, ""))
        self.assertIn("surely_not_there", error)
        self.write("CMakeLists.txt", CMAKE)
        self.assertEqual(self.call("0")[:2], (0, "ran\n"))

    def test_calls_at_once_take_turns(self):
        processes = [self.start("0") for _ in range(3)]
        for process in processes:
            out, _ = process.communicate()
            self.assertEqual((process.returncode, out), (0, "ran\n"))

    def test_apt_is_asked_once_and_for_what_is_missing(self):
        self.installed.write_text("cmake\nninja-build\n")
        self.call("0")
        calls = self.apt_log.read_text().splitlines()
        self.assertEqual(len(calls), 2, calls)
        self.assertTrue(calls[0].endswith("update"))
        self.assertIn("install -y --no-install-recommends", calls[1])
        self.assertIn("libyaml-cpp-dev", calls[1])
        self.assertNotIn(" cmake", calls[1])
        self.assertNotIn("clang", calls[1])
        self.call("0")
        self.assertEqual(self.apt_log.read_text().splitlines(), calls)

    def test_apt_that_fails_exits_with_70_and_its_words(self):
        self.write("tools/packages.txt", "build fail-me\n")
        code, out, error = self.call("0")
        self.assertEqual((code, out), (70, ""))
        self.assertIn("Unable to locate package fail-me", error)


if __name__ == "__main__":
    unittest.main()
