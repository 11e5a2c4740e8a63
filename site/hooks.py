# SPDX-License-Identifier: Apache-2.0
"""What mkdocs does not do by itself: manual pages become pages of the site (by mandoc), and links to files of the
repository outside docs/ become plain text, as the site does not have them."""
import pathlib
import posixpath
import re
import subprocess

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


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
