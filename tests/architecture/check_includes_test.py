#!/usr/bin/python3
"""Proves that check_includes.py fails on what it forbids and passes on what it allows."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import check_includes  # noqa: E402

GOOD = {
    "src/limber/math/trig.h": "double sin(double x);\n",
    "src/limber/math/so3.cpp": '#include "limber/math/trig.h"\ndouble f(double x) { return sin(x) + std::sqrt(x); }\n',
    "src/limber/elastic/law.cpp": '#include "limber/model/joint.h"\ndouble f(double x) { return math::sin(x); }\n',
    "src/limber/articulated/step.cpp": '#include "limber/multibody/tree.h"\n// std::sin(x) in a comment is harmless\n'
    'const char* text = "std::cos(x)";\ndouble g(double x) { return std::ldexp(std::fabs(x), 2); }\n',
    "src/limber/sim/run.cpp": '#include "limber/articulated/articulated.h"\n',
    "src/limber/scene/scene.cpp": '#include "limber/sim/run.h"\nusing math::exp;\ndouble h(double x) { return exp(x); }\n',
    "src/limber/export/csv.cpp": '#include "limber/result/recording.h"\n',
    "src/limber/elastic/CMakeLists.txt": "limber_library(elastic SOURCES law.cpp DEPENDS limber::math limber::model)\n",
    "tools/limber/main.cpp": '#include "limber/export/export.h"\n#include "limber/scene/scene.h"\n',
    "cmake/install.cmake": "set(headers\n  math/trig.h\n)\n",
}


def run(files):
    """The faults of a tree that holds `files` on top of the good ones."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {**GOOD, **files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return check_includes.faults(root)


class CheckIncludes(unittest.TestCase):
    def assert_one_fault(self, name, text, part, line=1):
        found = run({name: text})
        self.assertEqual([(f[0], f[1]) for f in found], [(name, line)], found)
        self.assertIn(part, found[0][2])

    def test_good_tree_passes(self):
        self.assertEqual(run({}), [])

    def test_every_forbidden_arrow(self):
        for folder, allowed in check_includes.ARROWS.items():
            for target in check_includes.ARROWS:
                if target == folder or target in allowed:
                    continue
                with self.subTest(folder=folder, target=target):
                    text = f'#include "limber/{target}/x.h"\n'
                    self.assert_one_fault(f"src/limber/{folder}/bad.cpp", text, f"must not include {target}/")

    def test_arrows_have_no_cycle(self):
        for folder, allowed in check_includes.ARROWS.items():
            for target in allowed:
                self.assertNotIn(folder, check_includes.ARROWS[target], f"{folder} and {target} see each other")

    def test_unknown_folder(self):
        self.assert_one_fault("src/limber/sim/bad.cpp", '#include "limber/utils/x.h"\n', "no folder")
        self.assert_one_fault("src/limber/utils/x.cpp", "int x;\n", "no folder")

    def test_cmake_follows_the_arrows(self):
        text = "limber_library(elastic SOURCES law.cpp\n               DEPENDS limber::math limber::sim)\n"
        self.assert_one_fault("src/limber/elastic/CMakeLists.txt", text, "must not link sim", line=2)

    def test_libm_calls(self):
        for call in ("std::sin(x)", "std::atan2 (x, x)", "::exp(x)", "std::pow(x, 2)", "cos(x)", "hypot(x, x)",
                     "a.array().exp()", "std::cbrt(x)", "__builtin_sin(x)", "sinf(x)", "Eigen::AngleAxisd(x, axis)"):
            with self.subTest(call=call):
                text = f"// head\ndouble f(double x) {{ return {call}; }}\n"
                self.assert_one_fault("src/limber/elastic/bad.cpp", text, "math", line=2)

    def test_libm_by_using_declaration(self):
        found = run({"src/limber/elastic/bad.cpp": "using std::sin;\n"})
        self.assertEqual(len(found), 1)

    def test_qualified_libm_call_in_math(self):
        self.assert_one_fault("src/limber/math/bad.cpp", "double f(double x) { return std::log(x); }\n", "std::log")

    def test_public_header_sees_only_public_ones(self):
        files = {
            "src/limber/math/trig.h": '#include "limber/math/secret.h"\n',
            "src/limber/math/secret.h": "int x;\n",
        }
        self.assertEqual([f[:2] for f in run(files)], [("src/limber/math/trig.h", 1)])

    def test_listed_header_exists(self):
        self.assert_one_fault("cmake/install.cmake", "set(headers\n  math/trig.h\n  math/gone.h\n)\n", "gone.h", line=3)

    def test_long_file(self):
        self.assert_one_fault("src/limber/math/long.cpp", "int x();\n" * 601, "601 lines", line=601)
        self.assertEqual(run({"src/limber/math/long.cpp": "int x();\n" * 600}), [])

    def test_notes_and_paths(self):
        self.assert_one_fault("src/limber/math/a.cpp", "// TO" "DO: later\n", "later")
        self.assert_one_fault("docs/a.md", "FIX" "ME\n", "later")
        self.assert_one_fault("src/limber/math/a.cpp", "// see ../sha" "red/notes\n", "out of")

    def test_command_ends_with_one_on_a_bad_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = Path(folder) / "src/limber/math/bad.cpp"
            bad.parent.mkdir(parents=True)
            bad.write_text('#include "limber/sim/run.h"\n', encoding="utf-8")
            command = [sys.executable, str(HERE / "check_includes.py"), folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("src/limber/math/bad.cpp:1: math/ must not include sim/", done.stdout)


if __name__ == "__main__":
    unittest.main()
