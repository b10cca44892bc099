#!/usr/bin/env python3
"""Checks the links of the Markdown pages and that headers say what they are about; prepares docs/ as a site for MkDocs.

  site.py --check           every link to a file or heading of the project has its target, and every public header
                            begins with a comment; exit code 1 otherwise
  site.py --stage FOLDER [--program EMOMC] [--package PYTHONPATH]
                            writes FOLDER/mkdocs.yml and FOLDER/pages: docs/, README.md as the first page, files of the
                            project that pages link to, the reference of the C++ libraries from their headers, and, where
                            these are given, the program's manual page and schema and the reference of the Python package
                            from its docstrings
"""

from __future__ import annotations

import argparse
import base64
import inspect
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~)")
# Parts of the C++ libraries; the part that a program needs first comes first.
PARTS = ("posterior", "sampler", "likelihood", "core", "speech", "emotion")
# Pages by section, in the order of the site's menu; the other pages follow under "More".
MENU = {
    "Start": ["index.md", "getting-started.md", "your-own-likelihood.md", "gallery.md", "inspect.md", "clusters.md", "glossary.md"],
    "Emotion": ["emotion.md", "corpora.md", "features.md", "functionals.md", "softmax.md", "regression.md"],
    "Libraries": ["python.md", "notebook.md", "python-reference.md", "cpp.md", "r.md"],
    "C++ reference": [f"cpp-{part}.md" for part in PARTS],
    "Reference": ["manual.md", "configuration.md", "chain-format.md", "proposals.md", "tempering.md"],
    "How it is tested": ["statistics.md", "reliability.md", "gpu-report.md"],
    "How it works": ["architecture.md", "performance.md", "bench.md", "gpu-kernels.md", "adding-a-model.md", "adding-a-proposal.md"],
}


def pages(root: pathlib.Path = ROOT) -> list[pathlib.Path]:
    """Returns the pages, including notebooks."""
    return sorted(
        [*root.glob("*.md"), *(root / "python").glob("*.md"), *(root / "bench").glob("*.md"),
         *(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.ipynb")]
    )


def text_of(page: pathlib.Path) -> str:
    """Returns a page as Markdown."""
    text = page.read_text(encoding="utf-8")
    return text if page.suffix == ".md" else notebook(json.loads(text), page.stem)


def notebook(content: dict[str, Any], stem: str) -> str:
    """Returns the cells and their outputs as Markdown; images have the names that images_of returns."""
    parts, count = [], 0
    for cell in content["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                parts.append(f"![plot](images/{stem}-{count}.png)")
                count += 1
            elif text := "".join(output.get("text", data.get("text/plain", []))).rstrip():
                parts.append(f"```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def images_of(page: pathlib.Path) -> list[tuple[str, bytes]]:
    """Returns the images of a notebook, with the names that `notebook` gives them."""
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    images = [output["data"]["image/png"] for cell in cells for output in cell.get("outputs", [])
              if "image/png" in output.get("data", {})]
    return [(f"images/{page.stem}-{i}.png", base64.b64decode(image)) for i, image in enumerate(images)]


def prose(text: str) -> list[tuple[int, str]]:
    """Returns numbered lines outside blocks of code."""
    lines, fence = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line.lstrip()):
            fence = not fence
        elif not fence:
            lines.append((number, line))
    return lines


def anchors(page: pathlib.Path) -> set[str]:
    """Returns the names that GitHub and MkDocs give to headings."""
    found: set[str] = set()
    for _, line in prose(text_of(page)):
        if match := re.match(r"#+\s+(.*)", line):
            heading = LINK.sub("", match.group(1))
            found.add(re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-"))
    return found


def broken_links(root: pathlib.Path = ROOT) -> list[str]:
    broken = []
    for page in pages(root):
        for number, line in prose(text_of(page)):
            without_code = re.sub(r"`[^`]*`|!\[plot\][^ ]*", "", line)
            for target in LINK.findall(without_code):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                there = (page.parent / path).resolve() if path else page
                where = f"{page.relative_to(root)}:{number}: {target}"
                if not there.exists():
                    broken.append(f"{where}: there is no such file")
                elif not there.is_relative_to(root):
                    broken.append(f"{where}: outside the project")
                elif anchor and there.suffix in (".md", ".ipynb") and anchor not in anchors(there):
                    broken.append(f"{where}: there is no such heading")
    return broken


def planted() -> int:
    """Checks that links without a target are found in a copy, where they are planted; returns the exit code."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve()
        (root / "docs").mkdir()
        (root / "README.md").write_text("# A page\n[a](docs/b.md) [b](docs/b.md#a-heading-of-it) `[c](nothing.md)`\n")
        (root / "docs/b.md").write_text("## A heading, of `it`\n```\n[d](nothing.md)\n```\n[e](../README.md#a-page)\n")
        if found := broken_links(root):
            print("no link is broken, but there were found:", *found, sep="\n")
            return 1
        (root / "docs/c.md").write_text("[f](nothing.md)\n[g](b.md#no-heading)\n[h](../../elsewhere)\n")
        found = broken_links(root)
        print(*found, sep="\n")
        frame = "#pragma once\n#include <b>\n\nnamespace emomc {\n\n/// What c is.\nint c();\n\n}  // namespace emomc\n"
        declarations = "/// What c is.\nint c();"
        parted = [header_parts(about + frame) for about in ("// About a.\n", "")]
        return 0 if len(found) == 3 and parted == [("About a.", declarations), ("", declarations)] else 1


def place_of(path: pathlib.Path) -> pathlib.Path:
    """Returns the place of a file of the project on the site."""
    if path == ROOT / "README.md":
        return pathlib.Path("index.md")
    if path.is_relative_to(ROOT / "docs"):
        place = path.relative_to(ROOT / "docs")
        if path.suffix == ".ipynb":
            return place.with_suffix(".md")
        if path.suffix in (".md", ".png", ".svg"):
            return place
        # The list of a folder's files is beside the folder, since files in it may be linked too.
        return pathlib.Path("files/docs") / (place.with_name(place.name + ".txt") if path.is_dir() else place)
    if path.name == "README.md":
        return pathlib.Path(path.parent.name + ".md")
    if path.suffix == ".md":
        return pathlib.Path(path.name)
    # Sources are shown as text, whatever their language is.
    return pathlib.Path("files") / path.relative_to(ROOT).with_name(path.name + ".txt")


def stage(folder: pathlib.Path, program: str | None, package: str | None) -> None:
    site = folder / "pages"
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    linked: set[pathlib.Path] = set()

    def rewritten(page: pathlib.Path, text: str) -> str:
        def link(match: re.Match[str]) -> str:
            target = match.group(1)
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                return match.group(0)
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve()
            if there.is_dir() and (there / "README.md").exists():
                there = there / "README.md"
            if there.suffix not in (".md", ".ipynb") and "![plot]" not in match.string[: match.start() + 1]:
                linked.add(there)
            up = "../" * (len(place_of(page).parts) - 1)
            return f"]({up}{place_of(there)}{'#' + anchor if anchor else ''})"

        lines, fence = [], False
        for line in text.splitlines():
            fence ^= bool(FENCE.match(line.lstrip()))
            lines.append(line if fence else LINK.sub(link, line))
        return "\n".join(lines) + "\n"

    for page in pages():
        place = site / place_of(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(rewritten(page, text_of(page)), encoding="utf-8")
        for name, image in images_of(page) if page.suffix == ".ipynb" else []:
            file = site / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(image)
    for path in linked:
        place = site / place_of(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():  # a list of the folder's files
            names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
            place.write_text("\n".join(names) + "\n", encoding="utf-8")
        else:
            shutil.copy(path, place)
    if program:
        (site / "manual.md").write_text(manual(program), encoding="utf-8")
        (site / "emomc.schema.json").write_text(said(program, "manual", "schema"), encoding="utf-8")
    for part in PARTS:
        (site / f"cpp-{part}.md").write_text(cpp_reference(part), encoding="utf-8")
    (site / "configuration.md").write_text(configuration(bool(program)), encoding="utf-8")
    if package:
        sys.path.insert(0, package)
        (site / "python-reference.md").write_text(python_reference(), encoding="utf-8")
    (folder / "mkdocs.yml").write_text(settings(site), encoding="utf-8")


def said(program: str, *arguments: str) -> str:
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def manual(program: str) -> str:
    lines = ["# The program", "", "`emomc COMMAND --help` prints these. `man emomc` has them where emomc is installed.", ""]
    commands = re.findall(r"^  ([a-z]+) ", said(program, "--help").partition("Subcommands:")[2], flags=re.MULTILINE)
    for command in commands:
        lines += [f"## {command}", "", "```text", said(program, command, "--help").rstrip(), "```", ""]
    return "\n".join(lines)


def configuration(has_schema: bool) -> str:
    lines = ["# Keys of configurations", ""]
    if has_schema:
        lines += ["Editors complete keys by [a JSON schema](emomc.schema.json).", ""]
    for name, file in (("run, check, fit", "all_keys.yaml"), ("evaluate, train", "all_evaluation_keys.yaml")):
        text = (ROOT / "configs" / file).read_text(encoding="utf-8")
        lines += [f"## {name}", "", "```yaml", text.rstrip(), "```", ""]
    return "\n".join(lines)


def public_headers(part: str) -> list[pathlib.Path]:
    """Returns the headers that a program includes: those of device/ are for kernels, and those with CUDA for
    sources of the library."""
    headers = [
        header
        for header in (ROOT / f"lib{part}/include").rglob("*.hpp")
        if "device" not in header.parts and "#include <cuda" not in header.read_text(encoding="utf-8")
    ]
    return sorted(headers, key=lambda header: (len(header.parts), header))


def header_parts(text: str) -> tuple[str, str]:
    """Returns the text of the comment at a header's beginning, and the declarations with their comments."""
    lines = text.splitlines()
    count = next(i for i, line in enumerate([*lines, ""]) if not line.startswith("//"))
    about = [re.sub(r"^//+ ?", "", line) for line in lines[:count]]
    frame = re.compile(r"#pragma once|#include |namespace emomc \{$|\}  ?// namespace emomc$")
    declarations = "\n".join(line for line in lines[count:] if not frame.match(line))
    return "\n".join(about), re.sub(r"\n{3,}", "\n\n", declarations).strip()


def cpp_reference(part: str) -> str:
    lines = [f"# emomc::{part}", ""]
    lines += ["Names are in the namespace `emomc`. [A page](cpp.md) says how a program is built.", ""]
    for header in public_headers(part):
        about, declarations = header_parts(header.read_text(encoding="utf-8"))
        name = header.relative_to(ROOT / f"lib{part}/include").as_posix()
        lines += [f"## {header.name}", "", "```text", about, "```", "", "```cpp", f"#include <{name}>", "", declarations, "```", ""]
    return "\n".join(lines)


def undocumented_headers() -> list[str]:
    """Returns public headers that do not begin with a comment about their purpose."""
    return [
        f"{header.relative_to(ROOT)}:1: a header of the reference begins with a comment that says what it is about"
        for part in PARTS
        for header in public_headers(part)
        if not header_parts(header.read_text(encoding="utf-8"))[0].strip()
    ]


def python_reference() -> str:
    import emomc

    lines = ["# The Python package", ""]
    for name in emomc.__all__:
        thing = getattr(emomc, name)
        try:
            signature = str(inspect.signature(thing))
        except (TypeError, ValueError):
            signature = ""
        lines += [f"## {name}", "", "```python", f"emomc.{name}{signature}", "```", ""]
        lines += ["```text", inspect.getdoc(thing) or "", "```", ""]
        if not inspect.isclass(thing):
            continue
        for method, of in vars(thing).items():
            documented = inspect.getdoc(of.fget if isinstance(of, property) else of)
            if method.startswith("_") or not documented or not (callable(of) or isinstance(of, property)):
                continue
            call = "" if isinstance(of, property) else str(inspect.signature(of))
            lines += [f"### {name}.{method}", "", "```python", f"{method}{call}", "```", "", "```text", documented, "```", ""]
    return "\n".join(lines)


def settings(site: pathlib.Path) -> str:
    version = re.search(r"project\(emomc VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    lines = [
        f"site_name: emomc {version.group(1) if version else ''}",
        "docs_dir: pages",
        "use_directory_urls: false",
        "theme: {name: mkdocs, highlightjs: false}",
        "plugins: [search]",
        "markdown_extensions: [tables, fenced_code, toc]",
        "nav:",
    ]
    there = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.md"))
    more = [page for page in there if not any(page in named for named in MENU.values())]
    for section, named in {**MENU, "More": more}.items():
        known = [page for page in named if page in there]
        if known:
            lines += [f"  - {section}:"] + [f"      - {page}" for page in known]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--stage", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--program", metavar="EMOMC")
    parser.add_argument("--package", metavar="PYTHONPATH")
    parser.add_argument("--planted", action="store_true", help="check that links without a target are found")
    arguments = parser.parse_args()
    if arguments.planted:
        return planted()
    if not arguments.check and not arguments.stage:
        parser.error("allowed: --check, --stage FOLDER")
    broken = broken_links() + undocumented_headers()
    print("\n".join(broken) if broken else f"{len(pages())} pages: every link has its target")
    if arguments.stage and not broken:
        stage(arguments.stage, arguments.program, arguments.package)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
