# Sphinx reads the Markdown pages of the repository, and those that docs/reference.py writes. The source folder is the repository.
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "docs"))
import reference  # noqa: E402

project = "cudag"
author = "the authors of cudag"
release = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())[1]
language = "en"

extensions = ["myst_parser", "breathe", "sphinx.ext.graphviz"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "docs/reference/*.rst", "subprojects/cudart-cpu/*.md", "subprojects/cudart-cpu/docs/*.md",
                    "tests/coverage/*.md"]
exclude_patterns = [".*", "build*", "docs/_build", "bench", "builder", "examples", "include", "lib"]  # keeps the search short

myst_heading_anchors = 6
breathe_projects = {"cudag": str(ROOT / "docs" / "_build" / "xml")}
breathe_default_project = "cudag"
breathe_show_include = False
breathe_default_members = ("members", "undoc-members")
cpp_id_attributes = ["__device__"]
cpp_maximum_signature_line_length = 100

toc_object_entries_show_parents = "hide"
graphviz_output_format = "svg"
graphviz_dot_args = ["-Gbgcolor=transparent", "-Gnodesep=0.3", "-Granksep=0.35", "-Nfontname=sans-serif", "-Nfontsize=11",
                     "-Nmargin=0.12,0.06", "-Efontname=sans-serif", "-Efontsize=10", "-Gfontname=sans-serif", "-Gfontsize=10"]

html_theme = "furo"
html_title = f"cudag {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False

# The pages stay plain Markdown: their places in the navigation are here. A page without a place is a warning.
CPU_RUNTIME = "/subprojects/cudart-cpu/"
CONTENTS = {
    "docs/index": {
        "Guide": ["Overview </README>", "why", "install", "first-graph", "graphs", "nodes", "conditionals",
                  "graph-memory", "footprint", "release", "pools", "compose", "run-time-kernels", "devices", "green-contexts", "ranks", "mpi", "nccl", "scale", "races", "plan", "pictures", "graph-text", "profile", "probe", "compare-with-eager", "faults", "tracing", "capture", "segments", "updates", "functions", "caches", "buckets", "verify",
                  "cookbook", "examples", "migrate", "lifetimes", "testing", "performance", "errors", "messages",
                  "troubleshooting"],
        "Reference": ["reference", "cuda-rules", "versioning", "glossary"],
        "The project": [CPU_RUNTIME + "README", "/tests/coverage/coverage", "/CONTRIBUTING", "/CHANGELOG"],
    },
    "docs/examples": {"": ["example-photo", "example-cg", "example-heat", "example-data-parallel"]},
    "docs/migrate": {"": ["migrate-capture", "migrate-libraries"]},
    "docs/messages": {"": ["messages-build", "messages-nodes", "messages-capture", "messages-update", "messages-text", "messages-nccl", "messages-compiler"]},
    "docs/cookbook": {"": ["cookbook-device", "cookbook-launch", "cookbook-capture", "cookbook-check"]},
    "docs/reference": {"": ["reference/" + reference.page_of(title) for title, _, _ in reference.rows()]},
    "subprojects/cudart-cpu/README": {"": ["docs/ci", "docs/nvcc", "docs/driver", "docs/limits", "CONTRIBUTING", "CHANGELOG"]},
}


PICTURE = re.compile(r"^<!-- picture: (\S+) -->$", re.MULTILINE)


def add_pictures(app, page, source):
    source[0] = PICTURE.sub(r"```{graphviz} /docs/pictures/\1.dot\n:alt: the graph \1\n```", source[0])


def add_contents(app, page, source):
    if page == "docs/reference":
        source[0] = reference.ROW.sub(lambda row: f"| [{row[1]}](reference/{reference.page_of(row[1])}.rst) | {row[2]}| {row[3]} |",
                                  source[0])
    for caption, entries in CONTENTS.get(page, {}).items():
        options = [":hidden:", *([f":caption: {caption}"] if caption else []), ""]
        source[0] += "\n".join(["", "```{toctree}", *options, *entries, "```", ""])


def setup(app):
    app.connect("source-read", add_pictures)
    app.connect("source-read", add_contents)
