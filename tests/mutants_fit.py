#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants_fit.py [--self-test]: the patches of tests/integration/oracle/mutants/ fit the sources (TAP).

test_mutants.py builds and tries each, in a lab of many minutes. That a change of the sources has left a patch behind is told here
within a second. Where there is no patch(1), all of it is skipped.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "tests/integration/oracle/mutants"


def misfit(path, root):
    """What patch(1) says if it cannot apply all of it; else None. Nothing is written."""
    done = subprocess.run(["patch", "--dry-run", "--forward", "--fuzz=2", "-p1", "-d", root, "-i", path], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stdout + done.stderr


def self_test():
    before, after = "one\ntwo\nthree\n", "one\nthree\n"
    patch = "--- a/src/x.c\n+++ b/src/x.c\n@@ -1,3 +1,2 @@\n one\n-two\n three\n"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        source = root / "src/x.c"
        source.parent.mkdir()
        (root / "a.patch").write_text(patch)
        for text, fits in ((before, True), (after, False), (before.replace("two", "2"), False)):
            source.write_text(text)
            assert (misfit(root / "a.patch", root) is None) == fits, text
            assert source.read_text() == text
        source.unlink()
        assert misfit(root / "a.patch", root) is not None
    print("ok 1 - a patch that does not fit is found, and nothing is changed\n1..1")


def main():
    if shutil.which("patch") is None:
        print("1..0 # SKIP no patch(1)")
        return 0
    if "--self-test" in sys.argv:
        return self_test()
    paths = sorted(MUTANTS.glob("*.patch"))
    failed = 0
    assert paths, "there are no mutants"
    print(f"1..{len(paths)}")
    for number, path in enumerate(paths, 1):
        why = misfit(path, ROOT)
        failed += why is not None
        print(f"{'not ' * (why is not None)}ok {number} - {path.name} fits the sources")
        if why is not None:
            print("".join(f"# {line}\n" for line in why.splitlines())
                  + "# Take the same safeguard out of the sources as they are now, and write that down as the patch.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
