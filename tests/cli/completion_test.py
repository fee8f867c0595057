#!/usr/bin/python3
"""The completion scripts: shells accept them, and bash completes what it should."""

import shutil
import subprocess

import support
from support import DONE, CommandTest


class Completion(CommandTest):
    def script(self, shell):
        path = self.folder / f"limber.{shell}"
        path.write_text(self.expect(DONE, "completion", shell).stdout, encoding="utf-8")
        return path

    def test_shells_accept_them(self):
        for shell in ("bash", "zsh", "fish"):
            path = self.script(shell)
            self.assertGreater(path.stat().st_size, 500)
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def complete(self, *words):
        """What bash offers for the last word."""
        quoted = " ".join(f"'{w}'" for w in ("limber", *words))
        program = (f"source '{self.script('bash')}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _limber; "
                   'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, cwd=self.folder, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("re"), ["reduce", "resume"])
        self.assertIn("completion", self.complete(""))
        self.assertEqual(self.complete("run", "--ti"), ["--time"])
        self.assertEqual(self.complete("run", "--integrator", ""), ["midpoint", "euler", "implicit_euler", "sdirk", "rk4", "gauss", "sdirk4", "bdf2", "alpha", "lobatto"])
        self.assertEqual(self.complete("convert", "x", "--to", "g"), ["glb"])
        self.assertEqual(self.complete("completion", "z"), ["zsh"])
        self.assertEqual(self.complete("bench", "art"), ["articulated"])
        self.assertIn("beam", self.complete("new", "--template", ""))
        self.assertEqual(self.complete("completion", "--help", "z"), ["zsh"])  # a flag takes no word
        self.assertEqual(self.complete("run", "sce"), [])  # left to the shell: file names
        (self.folder / "runs").mkdir()
        self.assertEqual(self.complete("resume", "ru"), ["runs"])

    def test_every_option_of_the_help_is_there(self):
        for name in ("run", "resume", "convert", "new", "check"):
            text = self.expect(DONE, name, "--help").stdout
            offered = self.complete(name, "--")
            for word in text.split():
                if word.startswith("--") and word.strip(",").isascii() and text.count(f"  {word} "):
                    self.assertIn(word, offered)


if __name__ == "__main__":
    support.main()
