#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""purity.py - hold the pure layers pure: no I/O, no clock, no environment, no thread, no global.

    tests/purity.py BUILD         check the archives in the build folder BUILD
    tests/purity.py --self-test   prove, in TAP, that it bites

A pure layer is what its archive asks the linker for. Whatever is neither defined in its own
archive or one below it, nor in the list of functions that only compute, is a fault; so is a
variable that can be written, as two decisions could see each other through it.

Instrumented archives (sanitizers, coverage) call their run-time library everywhere: the answer
for those is exit status 77, "skipped".
"""
import os
import re
import subprocess
import sys
import tempfile

# In the order of the arrows: each archive may use those before it.
PURE = ["base", "model", "learn", "decide", "policy", "control", "lib"]

ALLOWED = set(
    """
    malloc calloc realloc free abort __assert_fail
    memcpy memmove memset memcmp bcmp memchr memrchr
    strlen strnlen strcmp strncmp strchr strrchr strstr strspn strcspn
    snprintf vsnprintf qsort qsort_r bsearch
    log log2 log10 log1p exp exp2 expm1 pow sqrt cbrt hypot erf erfc
    fabs floor ceil trunc round lround llround fmin fmax fmod ldexp frexp
    """.split()
)

# What the compiler asks for by itself: stack checks, position independence, 128-bit arithmetic.
COMPILER = re.compile(
    r"__stack_chk_fail(_local)?|_GLOBAL_OFFSET_TABLE_"
    r"|__u?(div|mod|divmod)ti[34]|__mul(ti3|oti4)|__(fix|float)(uns|un)?\w\w\w\w"
)
INSTRUMENTED = re.compile(r"__(asan|ubsan|tsan|msan|sanitizer|llvm|gcov)_")
WRITABLE = re.compile(r"\.(data|bss|tdata|tbss)(\.(?!rel\.ro).*)?|\*COM\*")
SKIPPED = 77


def allowed(symbol):
    fortified = re.fullmatch(r"__(\w+)_chk", symbol)
    return (fortified[1] if fortified else symbol) in ALLOWED or bool(COMPILER.fullmatch(symbol))


def symbols(archive):
    """The (name, section) of every symbol of 'archive'; what it asks for is in '*UND*'."""
    listing = subprocess.run(
        ["nm", "--format=sysv", archive], check=True, capture_output=True, text=True
    ).stdout
    rows = (line.split("|") for line in listing.splitlines())
    return {(row[0].strip(), row[6].strip()) for row in rows if len(row) == 7}


def check(build, source):
    """The faults of all pure archives in 'build', as 'layer: what'; None if instrumented."""
    faults = []
    defined = set()
    for layer in PURE:
        archive = os.path.join(build, "src", layer, f"libstint-{layer}.a")
        if not os.path.exists(archive):
            if os.path.exists(os.path.join(source, "src", layer, "meson.build")):
                faults.append(f"{layer}: {archive} is missing, is it built?")
            continue
        found = symbols(archive)
        asked = {name for name, section in found if section == "*UND*"}
        if any(INSTRUMENTED.match(name) for name in asked):
            return None
        defined |= {name for name, section in found if section != "*UND*"}
        for name in sorted(asked - defined):
            if not allowed(name):
                faults.append(f"{layer}: calls {name}, which is not on the list of pure functions")
        for name, section in sorted(found):
            if WRITABLE.fullmatch(section):
                faults.append(f"{layer}: {name} can be written ({section}); hand it in instead")
    return faults


# The self-test: a tiny archive per case, by the system's compiler.

# A sentence, the body of the base layer, more compiler options, and a word of the one complaint;
# no word for no complaint, SKIPPED for no answer.
CASES = [
    ("arithmetic and memory pass",
     "void *f(int n) { void *p = malloc(n); return p ? memset(p, 0, n) : NULL; }", [], None),
    ("asserts and fortified calls pass",
     'void f(char *s, int n) { assert(n > 0); snprintf(s, 8, "%d", n); }\n'
     "char b(int n) { char s[8]; snprintf(s, n, \"%d\", n); return s[n]; }",
     ["-O2", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong"], None),
    ("128-bit division passes",
     "__int128 f(__int128 a, __int128 b) { return a / b; }", [], None),
    ("a member may call another of the same archive",
     "int other(void); int f(void) { return other(); }\nint other(void) { return 1; }", [], None),
    ("a table of constant strings passes",
     'static const char *const t[] = { "a", "b" }; const char *f(int i) { return t[i]; }',
     ["-fPIC"], None),
    ("reading the clock is a fault", "long f(void) { return clock(); }", [], "calls clock"),
    ("printing is a fault", 'void f(void) { puts("x"); }', [], "calls puts"),
    ("opening a file is a fault", 'void *f(void) { return fopen("x", "r"); }', [], "calls fopen"),
    ("reading the environment is a fault", 'char *f(void) { return getenv("X"); }', [],
     "calls getenv"),
    ("a call to a layer above is a fault", "int above(void); int f(void) { return above(); }", [],
     "calls above"),
    ("a static counter is a fault", "int f(void) { static int n; return ++n; }", ["-fno-common"],
     "can be written"),
    ("an initialised global is a fault", "int level = 1;", [], "can be written"),
    ("an instrumented archive has no answer", "int f(int *p) { return *p; }",
     ["-fsanitize=address"], SKIPPED),
]


def made(body, options):
    """What check() says of a base layer of 'body'."""
    with tempfile.TemporaryDirectory() as root:
        folder = os.path.join(root, "src", "base")
        os.makedirs(folder)
        with open(os.path.join(folder, "x.c"), "w", encoding="utf-8") as file:
            for name in ("assert", "stdio", "stdlib", "string", "time"):
                file.write(f"#include <{name}.h>\n")
            file.write(body + "\n")
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-w", "-c", "x.c", *options], check=True, cwd=folder)
        subprocess.run(["ar", "rc", "libstint-base.a", "x.o"], check=True, cwd=folder)
        return check(root, root)


def self_test():
    failed = 0
    print(f"1..{len(CASES) + 1}")
    for number, (sentence, body, options, word) in enumerate(CASES, 1):
        faults = made(body, options)
        if word is None or word == SKIPPED:
            good = faults == ([] if word is None else None)
        else:
            good = faults is not None and len(faults) == 1 and word in faults[0]
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {sentence}")
        if not good:
            print(f"# found: {faults}")
    with tempfile.TemporaryDirectory() as empty:
        good = check(empty, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) != []
    failed += not good
    print(f"{'ok' if good else 'not ok'} {len(CASES) + 1} - a layer without its archive is a fault")
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        print("usage: purity.py BUILD | --self-test", file=sys.stderr)
        return 2
    faults = check(sys.argv[1], os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if faults is None:
        print(f"{sys.argv[1]} is instrumented: nothing to say")
        return SKIPPED
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
