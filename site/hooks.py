# SPDX-License-Identifier: Apache-2.0
"""What mkdocs does not do by itself: manual pages become pages of the site (by mandoc), links to files of the
repository outside docs/ become plain text, as the site does not have them, and old addresses redirect."""
import pathlib
import posixpath
import re
import subprocess

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")

# Old address to new one, of every page that was there before 0.2.0.
MOVED = {
    "SLURM-IN-THIRTY-MINUTES": "start/slurm", "AWS-IN-AN-HOUR": "start/aws",
    "KUBERNETES-IN-THIRTY-MINUTES": "start/kubernetes", "SLURM": "reference/slurm-options", "AWS": "reference/aws-config",
    "KUBERNETES": "guides/k8s-manage", "LOCAL": "reference/local-cloud", "PACKAGES": "start/install",
    "OWNED": "guides/owned-nodes", "OPERATIONS": "guides/budgets", "PAGE": "guides/web-page", "POOLS": "guides/spot-pool",
    "SECURITY": "operating/security", "RELIABILITY": "operating/reliability", "GLOSSARY": "concepts/glossary",
    "policy-stint": "internals/policy", "ARCHITECTURE": "internals/architecture", "PERFORMANCE": "research/performance",
    "DEPENDENCIES": "internals/dependencies", "LIBRARY": "internals/library", "DATA": "research/data",
    "yardstick": "research/yardstick", "eva-interference": "research/eva", "sec-results": "research/sec",
    "stratus-results": "research/stratus", "coaster-results": "research/coaster", "pools-results": "research/pools",
    "roles/administrator": "index", "roles/user": "guides/for-job-submitters", "roles/bill": "guides/cut-the-bill",
    "roles/developer": "internals/architecture", "roles/researcher": "research/index", "format/api": "reference/api",
    "format/slurm-protocol": "reference/protocols/slurm", "format/kubernetes-protocol": "reference/protocols/kubernetes",
    "format/local-protocol": "reference/protocols/local",
    **{f"format/{name}": f"reference/files/{name}" for name in (
        "bill-csv", "catalogue", "colocation-csv", "commitments", "jobs-csv", "offers-csv", "prices-csv", "sacct", "scenario",
        "swf", "usage-csv")},
}
REDIRECT = """<!doctype html><meta charset="utf-8"><title>Moved</title>
<meta http-equiv="refresh" content="0; url={0}"><link rel="canonical" href="{0}"><p>This page has moved: <a href="{0}">{0}</a></p>
"""


def on_post_build(config):
    site = pathlib.Path(config["site_dir"])
    for old, new in MOVED.items():
        page = site / ("index.html" if new == "index" else f"{new.removesuffix('/index')}/index.html")
        if not page.is_file():
            raise SystemExit(f"site/hooks.py: {old} redirects to {new}, which is not there")
        (site / old).mkdir(parents=True)
        target = posixpath.relpath(page.parent.relative_to(site).as_posix(), old) + "/"
        (site / old / "index.html").write_text(REDIRECT.format(target))


def manual(path):
    said = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", str(path)], capture_output=True, text=True, check=True)
    body = re.sub(r"<table class=\"(head|foot)\">.*?</table>", "", said.stdout, flags=re.S)
    body = re.sub(r"<h1 class=\"S[hH]\"", "<h2", body).replace("</h1>", "</h2>")
    return f"# {path.stem}({path.suffix[1:]})\n\n<div class=\"manual\">\n{body}\n</div>\n"


def on_files(files, config):
    for path in sorted((ROOT / "man").glob("*.[0-9]")):
        files.append(File.generated(config, f"manual/{path.name}.md", content=manual(path)))
    files.append(File.generated(config, "site.css", abs_src_path=str(ROOT / "site/site.css")))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)

    def resolve(match):
        text, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if "://" in target:
            return match.group(0)
        path = posixpath.normpath(posixpath.join("docs", folder, target))
        name = path[len("man/") :]
        if path.startswith("man/") and (ROOT / path).is_file():
            return f"[{text}]({posixpath.relpath('manual/' + name + '.md', folder or '.')}{anchor})"
        inside = path.startswith("docs/")
        if not inside and not (ROOT / path).exists():
            raise SystemExit(f"{page.file.src_uri}: {target} is not in the repository")
        if inside and not (ROOT / path).is_dir():
            return match.group(0)  # mkdocs checks these
        return text if text.startswith("`") or path in text else f"{text} (`{path}`)"

    return LINK.sub(resolve, markdown)
