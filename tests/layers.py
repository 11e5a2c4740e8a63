#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py - hold the arrows between the layers of src/, and the form of every source file.

    tests/layers.py               check the tree that this file stands in
    tests/layers.py --self-test   prove, in TAP, that each rule bites

What is checked:

  1. A file includes only its own layer and those that its layer stands on (STANDS_ON). The
     programs of a layer's test/ may also use base/test; nothing else may use test code.
  2. Ours are included as "layer/file.h"; a .c includes its own header before all else.
  3. A header has the guard STINT_<LAYER>_<NAME>_H.
  4. File names are unique under src/.
  5. Every file opens with its licence; comments are /* */; no file is longer than LINES_MAX.
  6. Engines and clouds are adapters behind a table each (engine/engines.c, cloud/clouds.c): what
     stands above them includes nothing from an adapter's folder and has none of its words (WORDS) in
     its code, so that one more adapter touches its own folder and the table. MAY_NAME has the
     exceptions. Comments are free, and so are tests, whose configurations have to name a kind.
  7. Inside control/ the folders stand on each other (ROOMS); only reconcile/ calls a port, and what is in
     ONLY_IN is written in one file.
  8. Files form no circle: neither headers by what they include, nor sources by whose functions they
     call.

Under tests/ and bench/ only rule 5 holds: what stands there may use everything. It holds too under include/, the
public headers, and examples/; these include nothing of src/.
"""
import os
import re
import sys
import tempfile

# The one table: what each layer stands on. It may include those, and what they stand on.
STANDS_ON = {
    "base": [],
    "model": ["base"],
    "learn": ["model"],
    "decide": ["learn"],
    "policy": ["decide"],
    "solve": ["decide"],
    "draw": ["model"],
    "trace": ["model"],
    "control": ["policy"],
    "lib": ["control"],
    "sim": ["control", "trace"],
    "engine": ["control", "trace"],
    "cloud": ["control", "trace"],
    "store": ["control"],
    "serve": ["store", "draw"],
    "daemon": ["engine", "cloud", "serve", "sim"],
    "cli": ["daemon", "solve", "draw"],
}
LINES_MAX = 1000

# The same for the folders of control/; what stands in control/ itself stands on all of them.
ROOMS = {
    "ports": [],
    "state": ["ports"],
    "books": ["state"],
    "hear": ["books"],
    "want": ["books"],
    "reconcile": ["hear", "want"],
}

# What of control/ may be found in one file or folder only, and why.
ONLY_IN = [
    (r"\bops->\w+\(", "control/reconcile/", "only reconcile/ calls a port: mark the row"),
    (r"\bview_set_state\(", "control/state/", "use state_set_instance, which marks the row"),
    (r"\bview_(?:un)?bind\(", "control/state/", "use state_bind or state_unbind, which mark the row"),
    (r"\.run_key\[\w+\] = ", "control/state/", "only the state writes the run key"),
    (r"\bsteps\[\w+\](?:\.\w+)? = ", "control/state/", "only the state writes steps"),
    (r"(?<![*\w] )(?<!\*)\bstruct task_step \*step\b", "control/state/", "steps are const outside of the state"),
]

# Each adapter's folder, and the words that give it away.
WORDS = {
    "engine/kubernetes": r"kube",
    "engine/slurm": r"slurm",
    "cloud/karpenter": r"karpenter_",
    "cloud/aws": r"(?<![a-z])aws(?![a-z])|(?<![a-z])ec2",
    "cloud/local": r"local_(?:cloud|adapter|settings)|cloud-local",
}
ABOVE_ADAPTERS = {"serve", "daemon", "cli"}

# Which files above may use the words, and why.
MAY_NAME = {
    "cli/kube_plan.c": "reads what kubectl printed; there is no daemon and no adapter in between",
    "cli/kube_plan.h": "likewise",
    "cli/meson.build": "likewise",
    "cli/verb_repro.c": "a paper is called so",
    "cli/repro_eva_world.c": "a file of the paper's published data is called so",
    "cli/repro_eva_more.c": "files of published data are called so",
    "cli/repro_pools_world.c": "files of published data are called so",
    "cli/repro_sec.h": "the paper compares two clouds by their prices of 2012",
    "cli/repro_sec_figures.c": "likewise",
    "cli/repro_sec_plans.c": "likewise",
    "cli/repro_sec_table.c": "likewise",
    "cli/verb_demo.c": "finds the programs of the one engine and the one cloud that the demo's script starts",
    "cli/main.c": "lists the verb that puts Stint into such a cluster",
    "cli/verb.h": "likewise",
    "cli/verb_kubernetes.c": "runs the adapter's program for people who install it",
    "cli/verb_plan.c": "gives the comparison of a cluster to kube_plan.c",
    "cli/verb_replay.c": "says which formats of history trace/ can read",
}
# Which may include an adapter's headers, and of which folder.
MAY_INCLUDE = {"cli/kube_plan.c": "engine/kubernetes"}
NOT_UNIQUE = {"meson.build", "README.md"}

LICENCE = {
    ".c": r"/\* SPDX-License-Identifier: \S+ \*/",
    ".h": r"/\* SPDX-License-Identifier: \S+ \*/",
    ".build": r"# SPDX-License-Identifier: \S+",
}

# A block comment, a string, a character, or the comment that we do not use.
TOKEN = re.compile(
    r"""/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|//[^\n]*""", re.DOTALL
)
# A function: 'static' if no other file can call it, its name, then its parameters, then a brace in the first column.
DEFINITION = re.compile(r"^(static\s+|(?!static\b))[a-z_][\w\s*]*?[\s*](\w+)\([^;{}]*?\)\n\{", re.MULTILINE)
CALL = re.compile(r"(?<![.>])\b([a-z_]\w*)\(")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)


def below(layer):
    """All that 'layer' may include besides itself."""
    found = set()
    for name in STANDS_ON[layer]:
        found |= {name} | below(name)
    return found


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def without_comments(text):
    """'text' with each comment blanked, line by line as long as before."""
    return TOKEN.sub(
        lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0].startswith("/") else m[0], text
    )


def is_test(path):
    """Whether 'path', relative to src/, is test code."""
    return "test" in path.split("/")[:-1]


def arrow_fault(path, target):
    """What is wrong with 'path' including 'target' (both relative to src/), or None."""
    layer, other = path.split("/")[0], target.split("/")[0]
    if "/" not in target or other not in STANDS_ON:
        return f'"{target}" does not name its layer: write "layer/file.h"'
    if other != layer and other not in below(layer):
        return f"{layer} may not include {other}: the arrows run the other way"
    if is_test(target) and not is_test(path):
        return f'"{target}" is test code'
    if is_test(target) and other not in (layer, "base"):
        return f'"{target}" is the test code of another layer'
    return None


def rooms_below(room):
    """All folders of control/ that 'room' may include besides itself."""
    found = set()
    for name in ROOMS[room]:
        found |= {name} | rooms_below(name)
    return found


def room_of(path):
    """The folder of control/ that 'path', relative to src/, is in, or None."""
    parts = path.split("/")
    return parts[1] if parts[0] == "control" and len(parts) > 2 and parts[1] != "test" else None


def check_rooms(path, text):
    """Rule 7; 'path' is relative to src/."""
    room = room_of(path)
    if not path.startswith("control/") or is_test(path):
        return
    if room is not None and room not in ROOMS:
        yield 1, f"control/{room} is not in the table of rooms"
        return
    code = without_comments(text)
    for match in INCLUDE.finditer(code):
        if room is None or not match[2].startswith("control/"):
            continue
        other = room_of(match[2])
        if other != room and other not in rooms_below(room):
            yield line_of(text, match.start()), f'control/{room} may not include "{match[2]}"'
    for pattern, folder, why in ONLY_IN:
        if not path.startswith(folder):
            for match in re.finditer(pattern, code):
                yield line_of(text, match.start()), why


def circles_of(edges):
    """The strongly connected sets of more than one node (Tarjan's algorithm)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            circle = set(stack[stack.index(node):])
            del stack[stack.index(node):]
            if len(circle) > 1:
                found.append(circle)

    for node in sorted(edges):
        if node not in order:
            visit(node)
    return found


def call_edges(codes):
    """Which source calls a function of which; 'codes' has the text of each, without comments and strings."""
    home, edges = {}, {}
    for path, code in codes.items():
        for match in DEFINITION.finditer(code):
            if not match[1]:
                home[match[2]] = path
    for path, code in codes.items():
        own = {match[2] for match in DEFINITION.finditer(code)}
        called = {match[1] for match in CALL.finditer(code)} - own
        edges[path] = {home[name] for name in called if name in home}
    return edges


def check_circles(sources):
    """Rule 8; 'sources' has the text of each .c and .h file by its path relative to src/."""
    codes = {path: TOKEN.sub(" ", text) for path, text in sources.items() if not is_test(path)}
    includes = {
        path: {match[2] for match in INCLUDE.finditer(without_comments(text)) if match[1] == '"'}
        for path, text in sources.items() if path.endswith(".h")
    }
    calls = call_edges({path: code for path, code in codes.items() if path.endswith(".c")})
    for circle in circles_of(includes) + circles_of(calls):
        yield min(circle), "files form a circle: " + ", ".join(sorted(circle))


def check_includes(root, path, text):
    """Rules 1 and 2 for one file of src/; 'path' is relative to src/."""
    includes = list(INCLUDE.finditer(without_comments(text)))
    for match in includes:
        fault = arrow_fault(path, match[2]) if match[1] == '"' else None
        if fault:
            yield line_of(text, match.start()), fault
    stem, extension = os.path.splitext(path)
    own = stem + ".h"
    if extension == ".c" and os.path.exists(os.path.join(root, "src", own)):
        if not includes or includes[0][2] != own:
            line = line_of(text, includes[0].start()) if includes else 1
            yield line, f'include "{own}" before all else'


def check_names(path, text):
    """Rule 6; 'path' is relative to src/."""
    layer = path.split("/")[0]
    if layer not in ABOVE_ADAPTERS or is_test(path):
        return
    if path.endswith(".build"):
        code = re.sub(r"#[^\n]*", "", text)
    else:
        code = without_comments(text)
    for match in INCLUDE.finditer(code):
        folder = "/".join(match[2].split("/")[:2])
        if folder in WORDS and MAY_INCLUDE.get(path) != folder:
            yield line_of(text, match.start()), f"{layer} may not know {folder}: use the table"
    code = INCLUDE.sub("", code)
    named = [match for words in WORDS.values() for match in re.finditer(words, code, re.IGNORECASE)]
    if path in MAY_NAME and not named:
        yield 1, "names no adapter: take it out of MAY_NAME"
    if path not in MAY_NAME:
        for match in named:
            yield line_of(code, match.start()), f"{layer} may not name '{match[0]}': ask the adapter"


def check_adapter(path):
    """Every adapter has its words; 'path' is relative to src/."""
    parts = path.split("/")
    folder = "/".join(parts[:2])
    if parts[0] in ("engine", "cloud") and len(parts) > 2 and parts[1] != "test":
        if folder not in WORDS:
            yield 1, f"{folder} is an adapter without words: add them to WORDS"


def check_guard(path, text):
    """Rule 3; 'path' is relative to src/."""
    stem = os.path.splitext(os.path.basename(path))[0]
    name = f"STINT_{path.split('/')[0]}_{stem}_H".upper()
    if not re.search(rf"^#ifndef {name}\n#define {name}\n", text, re.MULTILINE):
        yield 1, f"the include guard must be {name}"


def check_form(path, text):
    """Rule 5."""
    extension = os.path.splitext(path)[1]
    if extension in LICENCE and not re.fullmatch(LICENCE[extension], text.split("\n", 1)[0]):
        yield 1, "the first line must be the SPDX licence tag"
    if extension in (".c", ".h"):
        for match in TOKEN.finditer(text):
            if match[0].startswith("//"):
                yield line_of(text, match.start()), "write comments as /* */"
        if text.count("\n") > LINES_MAX:
            yield LINES_MAX, f"longer than {LINES_MAX} lines: split it"


def files_of(root, *folders):
    for folder in folders:
        for directory, names, files in os.walk(os.path.join(root, folder)):
            names.sort()
            for name in sorted(files):
                yield os.path.relpath(os.path.join(directory, name), root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def check_source(root, path, text):
    """Rules 1 to 3 for one .c or .h file of src/."""
    inside = path[len("src/"):]
    if inside.split("/")[0] not in STANDS_ON:
        yield 1, f"{os.path.dirname(path)} is not in the table of layers"
        return
    yield from check_includes(root, inside, text)
    yield from check_adapter(inside)
    yield from check_rooms(inside, text)
    if path.endswith(".h"):
        yield from check_guard(inside, text)


def check_public(text):
    """What others compile too has nothing of ours but what is installed."""
    for match in INCLUDE.finditer(without_comments(text)):
        if match[1] == '"':
            yield line_of(text, match.start()), f'"{match[2]}" is not installed: include <stint/...>'


def check(root):
    """Every fault of the tree at 'root', as 'path:line: what'."""
    faults = []
    first = {}
    sources = {}
    for path in files_of(root, "src", "include", "examples", "tests", "bench"):
        name = os.path.basename(path)
        if path.startswith("src/") and name not in NOT_UNIQUE:
            if name in first:
                faults.append(f"{path}:1: {first[name]} has the same name")
            first.setdefault(name, path)
        if os.path.splitext(path)[1] not in LICENCE:
            continue
        text = read(root, path)
        found = list(check_form(path, text))
        if path.startswith("src/") and path.endswith((".c", ".h")):
            found += check_source(root, path, text)
            sources[path[len("src/"):]] = text
        if path.startswith("src/"):
            found += check_names(path[len("src/"):], text)
        if path.startswith(("include/", "examples/")):
            found += check_public(text)
        faults += [f"{path}:{line}: {what}" for line, what in found]
    return faults + [f"src/{path}:1: {what}" for path, what in check_circles(sources)]


# The self-test: a small tree without a fault, and what each change to it must bring to light.

TAG = "/* SPDX-License-Identifier: Apache-2.0 */\n"


def header(layer, name, body=""):
    guard = f"STINT_{layer}_{name}_H".upper()
    return f"{TAG}#ifndef {guard}\n#define {guard}\n{body}\n#endif\n"


GOOD = {
    "src/meson.build": "# SPDX-License-Identifier: Apache-2.0\n",
    "src/base/meson.build": "# SPDX-License-Identifier: Apache-2.0\n",
    "src/base/room.h": header("base", "room"),
    "src/base/hall.h": header("base", "hall", '#include "base/room.h"'),
    "src/base/room.c": TAG + '/* See "cli/x.h" // not code */\n#include "base/room.h"\n',
    "src/base/test/check.h": header("base", "check"),
    "src/model/job.h": header("model", "job", '#include "base/room.h"'),
    "src/model/test/test_job.c": TAG + '#include "base/test/check.h"\n#include "model/job.h"\n',
    "src/model/test/jobs.h": header("model", "jobs"),
    "src/trace/swf.h": header("trace", "swf", '#include "model/job.h"'),
    "src/learn/runtime.h": header("learn", "runtime", '#include "model/job.h"'),
    "src/sim/clock.h": header("sim", "clock", '#include "trace/swf.h"'),
    "src/cloud/aws/ec2.h": header("cloud", "ec2", '#include "base/room.h"'),
    "src/cli/run.c": TAG + '#include "sim/clock.h"\nconst char *u = "http://x"; char c = \'"\';\n',
    "src/control/ports/port.h": header("control", "port"),
    "src/control/state/state.h": header("control", "state", '#include "control/ports/port.h"'),
    "src/control/hear/hear.h": header("control", "hear", '#include "control/state/state.h"'),
    "src/control/want/want.h": header("control", "want", '#include "control/state/state.h"'),
    "src/control/control.c": TAG + '#include "control/hear/hear.h"\n',
    "src/learn/low.c": TAG + "int low_one(int x)\n{\n    return x;\n}\n",
    "src/learn/high.c": TAG + "int high_one(int x)\n{\n    return low_one(x);\n}\n",
    "src/store/store_ledger.c": TAG,
    "src/store/store_seal.c": TAG,
    "tests/fuzz/fuzz_swf.c": TAG + '#include "trace/swf.h"\n',
    "include/stint/x.h": TAG + "#include <stint/y.h>\n",
}

# A sentence, the file that is changed, its new text, and a word of the one complaint (or none).
CASES = [
    ("a tree without a fault passes", "src/meson.build", GOOD["src/meson.build"], None),
    ("a layer may not include one that stands on it", "src/base/up.c",
     TAG + '#include "model/job.h"\n', "base may not include model"),
    ("trace stands on model and on nothing above it", "src/trace/up.c",
     TAG + '#include "learn/runtime.h"\n', "trace may not include learn"),
    ("what does not stand on trace may not include it", "src/control/loop.c",
     TAG + '#include "trace/swf.h"\n', "control may not include trace"),
    ("siblings may not include each other", "src/engine/peer.c",
     TAG + '#include "cloud/aws/ec2.h"\n', "engine may not include cloud"),
    ("test code is bound by the arrows too", "src/model/test/test_up.c",
     TAG + '#include "learn/runtime.h"\n', "model may not include learn"),
    ("only test code may include test code", "src/model/job.c",
     TAG + '#include "model/job.h"\n#include "base/test/check.h"\n', "is test code"),
    ("test code of another layer stays there", "src/learn/test/test_runtime.c",
     TAG + '#include "model/test/jobs.h"\n', "of another layer"),
    ("an include must name its layer", "src/model/task.c",
     TAG + '#include "job.h"\n', "does not name its layer"),
    ("an unknown folder is not a layer", "src/misc/x.c", TAG, "not in the table"),
    ("the own header comes first", "src/base/room.c",
     TAG + '#include <stdio.h>\n#include "base/room.h"\n', "before all else"),
    ("a header carries the guard of its layer and name", "src/base/list.h",
     header("model", "list"), "must be STINT_BASE_LIST_H"),
    ("a file name may not be used twice", "src/learn/job.h",
     header("learn", "job"), "has the same name"),
    ("a C file opens with its licence", "src/base/bare.c", "int x;\n", "SPDX"),
    ("a build file opens with its licence", "src/model/meson.build", "x = 1\n", "SPDX"),
    ("a line comment is refused", "src/base/slash.c", TAG + "int x; // no\n", "as /* */"),
    ("a line comment is refused in tests/ too", "tests/fuzz/slash.c", TAG + "// no\n", "as /* */"),
    ("what stands above includes nothing of an adapter", "src/daemon/core.c",
     TAG + '#include "cloud/aws/ec2.h"\n', "use the table"),
    ("what stands above may include the table", "src/daemon/core.c",
     TAG + '#include "cloud/clouds.h"\n', None),
    ("an adapter's name may not be an identifier", "src/daemon/core.c",
     TAG + "void aws_rent(void);\n", "may not name 'aws'"),
    ("an adapter's name may not be in a string", "src/cli/say.c",
     TAG + 'const char *s = "see slurmctld";\n', "may not name 'slurm'"),
    ("an adapter's library may not be linked by name", "src/daemon/meson.build",
     "# SPDX-License-Identifier: Apache-2.0\nx = [slurm_engine_dep]\n", "may not name 'slurm'"),
    ("a comment may name an adapter", "src/serve/say.c", TAG + "/* as EC2 does */\n", None),
    ("a word that only contains a name is none", "src/cli/say.c",
     TAG + 'const char *s = "draws, laws";\n', None),
    ("a test may name an adapter", "src/daemon/test/test_core.c",
     TAG + 'const char *s = "kind: slurm";\n', None),
    ("an exception that is not needed is taken out", "src/cli/verb_demo.c", TAG, "out of MAY_NAME"),
    ("an adapter without words is found", "src/engine/pbs/pbs.c", TAG, "without words"),
    ("a public header includes nothing of src/", "include/stint/x.h",
     TAG + '#include "base/room.h"\n', "is not installed"),
    ("an example includes nothing of src/", "examples/x.c",
     TAG + '#include "base/room.h"\n', "is not installed"),
    ("a public header opens with its licence", "include/stint/x.h", "int x;\n", "SPDX"),
    ("what stands below the public interface may not include it", "src/control/x.c",
     TAG + '#include "lib/private.h"\n', "control may not include lib"),
    ("state may not include what stands on it", "src/control/state/state.c",
     TAG + '#include "control/state/state.h"\n#include "control/hear/hear.h"\n', "may not include"),
    ("hear and want do not know each other", "src/control/want/want.c",
     TAG + '#include "control/want/want.h"\n#include "control/hear/hear.h"\n', "may not include"),
    ("an unknown folder of control is found", "src/control/misc/x.c", TAG, "table of rooms"),
    ("only reconcile calls a port", "src/control/hear/hear.c",
     TAG + '#include "control/hear/hear.h"\nvoid f(struct p *p)\n{\n    p->ops->rent(p->self);\n}\n', "calls a port"),
    ("reconcile calls a port", "src/control/reconcile/x.c",
     TAG + "void f(struct p *p)\n{\n    p->ops->rent(p->self);\n}\n", None),
    ("only the state sets an instance's", "src/control/want/x.c",
     TAG + "void f(struct v *v)\n{\n    view_set_state(v, 0, 1);\n}\n", "state_set_instance"),
    ("only the state writes steps", "src/control/want/x.c",
     TAG + "void f(struct v *v)\n{\n    v->steps[task].key = 1;\n}\n", "writes steps"),
    ("steps are const where they are only read", "src/control/want/x.c",
     TAG + "void f(struct v *v)\n{\n    struct task_step *step = &v->steps[0];\n}\n", "const"),
    ("a step may be read", "src/control/want/x.c",
     TAG + "void f(struct v *v)\n{\n    const struct task_step *step = &v->steps[0];\n}\n", None),
    ("headers that include each other are a circle", "src/base/room.h",
     header("base", "room", '#include "base/hall.h"'), "form a circle"),
    ("sources that call each other are a circle", "src/learn/low.c",
     TAG + "int low_one(int x)\n{\n    return high_one(x);\n}\n", "form a circle"),
    ("a name in a string is no call", "src/learn/low.c",
     TAG + 'int low_one(int x)\n{\n    return say("high_one(x)");\n}\n', None),
    ("a function of the same name elsewhere is no call", "src/learn/low.c",
     TAG + "static int high_one(int x)\n{\n    return x;\n}\n\nint low_one(int x)\n{\n    return high_one(x);\n}\n", None),
    ("a function that is handed over is no call", "src/learn/low.c",
     TAG + "int low_one(int x)\n{\n    return later(high_one);\n}\n", None),
    ("a file of 1001 lines is too long", "src/base/long.c", TAG + "\n" * 1000, "longer than"),
    ("a file of 1000 lines is not too long", "src/base/long.c", TAG + "\n" * 999, None),
]


def bites(change, text, word):
    with tempfile.TemporaryDirectory() as root:
        for path, content in {**GOOD, change: text}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(content)
        faults = check(root)
    expected = 0 if word is None else 1
    return len(faults) == expected and all(word in fault for fault in faults), faults


def self_test():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, (sentence, change, text, word) in enumerate(CASES, 1):
        good, faults = bites(change, text, word)
        print(f"{'ok' if good else 'not ok'} {number} - {sentence}")
        if not good:
            failed += 1
            print("".join(f"# found: {fault}\n" for fault in faults) or "# found nothing")
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    faults = check(root)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
