#!/usr/bin/env python3
"""Writes docs/reference/, a page for each row of docs/reference.md, from Doxygen's XML. Fails if a public name is in no row.

It changes the XML in place: members that the reference omits go, `detail::` is dropped, and the functions, types and macros
of each header become a group, which Breathe can show. `reference.py check` looks for each name in the finished site."""
import copy
import re
import sys
import xml.etree.ElementTree as ET
import zlib
from collections import Counter
from pathlib import Path

DOCS = Path(__file__).resolve().parent
XML = DOCS / "_build" / "xml"
NAMES = DOCS / "_build" / "names.txt"
PAGES = DOCS / "reference"
HEADERS = DOCS.parent / "include" / "cudag"
ROW = re.compile(r"^\| (?!page)([^|`]+?) \| ((?:`[\w/]+\.hpp` )+)\| ([^|]*?) ?\|$", re.MULTILINE)
LINK = re.compile(r"^\[([^\]]+)\]: (https://\S+)$", re.MULTILINE)  # in docs/cuda-rules.md
# Headers with a part of the calls of a class, such as GraphBuilder: the reference shows them as members of that class.
PART = re.compile(r"builder/|updates\.hpp$")
SECTIONS = {"enum": "enum", "typedef": "typedef", "function": "func", "variable": "var", "define": "define"}


def rows():
    """The pages: title, headers, and sections of CUDA's documentation."""
    found = ROW.findall((DOCS / "reference.md").read_text())
    return [(title, re.findall(r"`([^`]+)`", headers), [section for section in sections.split(", ") if section])
            for title, headers, sections in found]


def page_of(title):
    return re.sub(r"\W+", "-", title.lower())


def without_arguments(name):
    """`name` without its template arguments."""
    shorter = re.sub(r" ?<[^<>]*>", "", name)
    return name if shorter == name else without_arguments(shorter)


def text_of(element, path):
    found = element.find(path)
    return "" if found is None else "".join(found.itertext()).strip()


def place_of(element):
    """Header and line."""
    location = element.find("location")
    return location.get("file").removeprefix("cudag/"), int(location.get("line"))


def name_of(compound):
    return compound.findtext("compoundname").replace("detail::", "")


def why_omitted(member, owner):
    """Why the reference omits a member of the class or namespace `owner`; empty if it shows the member."""
    if member.get("prot") != "public" or member.get("kind") == "friend":
        return "not public"
    if text_of(member, "name") in ("CUDAG_EXPORT", "CUDAG_HOST_DEVICE", "CUDAG_DEVICE_ONLY"):
        return "for the library only"
    if member.get("kind") != "function":
        return ""
    signature = text_of(member, "argsstring")
    if re.search(r"= ?delete$", signature):
        return "deleted"
    names = [text_of(parameter, "declname").lstrip(".") for parameter in member.findall("param")]
    if member.find("templateparamlist") is not None and names and not any(names):
        return "deduction guide" if "->" in signature else "template that refuses"
    of_detail = "detail::" in text_of(member, "type") and not text_of(member, "briefdescription")
    if of_detail or re.search(r"\b(Passkey|BracedConfig)\b", signature):
        return "for the library only"
    scope = re.search(r"(\w+)::[^:]*$", without_arguments(text_of(member, "definition")))
    if scope and scope[1] != without_arguments(name_of(owner)).split("::")[-1]:
        return "using-declaration"  # Doxygen repeats the base's member
    return ""


class Reference:
    def __init__(self):
        self.index = ET.parse(XML / "index.xml")
        self.files = {}
        self.classes, self.members = {}, {}  # by header
        self.names = set()
        self.shown, self.omitted = Counter(), Counter()

    def compound(self, refid):
        if refid not in self.files:
            self.files[refid] = ET.parse(XML / f"{refid}.xml")
        return self.files[refid].getroot().find("compounddef")

    def members_of(self, compound, scope):
        """Removes what the reference omits from a class, namespace or file, and returns the rest."""
        for section in compound.findall("sectiondef"):
            for member in section.findall("memberdef"):
                if why := why_omitted(member, compound):
                    section.remove(member)
                    self.omitted[why] += 1
            if section.find("memberdef") is None:
                compound.remove(section)
        for member in compound.iter("memberdef"):
            member.set("inline", "no")
            name = scope + text_of(member, "name")
            values = [f"{name}::{text_of(value, 'name')}" for value in member.findall("enumvalue")]
            self.names.update([name, *values])
            self.shown[member.get("kind")] += 1
            self.shown["enumerator"] += len(values)
            yield member

    def add_part(self, owner, part):
        """Adds the public functions of the base class `part` to `owner`."""
        base, name = without_arguments(part.findtext("compoundname")), without_arguments(name_of(owner))
        section = owner.find("sectiondef[@kind='public-func']")
        for member in part.findall("sectiondef[@kind='public-func']/memberdef"):
            member = copy.deepcopy(member)
            member.set("id", member.get("id").replace(part.get("id"), owner.get("id") + "_1" + part.get("id")))
            definition = member.find("definition")
            definition.text = re.sub(rf"{base}(< \w+ >)?::", f"{name}::", definition.text)
            section.append(member)

    def read(self):
        kinds = {entry.get("refid"): entry.get("kind") for entry in self.index.getroot().findall("compound")}
        classes = {refid: self.compound(refid) for refid, kind in kinds.items() if kind in ("class", "struct", "union")}
        public = {refid for refid, one in classes.items() if "detail::" not in one.findtext("compoundname")}
        bases = set()
        for one in (classes[refid] for refid in sorted(public)):
            for base in one.findall("basecompoundref"):
                refid = base.get("refid")
                if refid in classes and PART.match(place_of(classes[refid])[0]):
                    self.add_part(one, classes[refid])
                    one.remove(base)
                else:
                    bases.add(refid)
        for refid in public | bases & classes.keys():
            one = classes[refid]
            if one.get("prot") == "private":
                continue
            for derived in one.findall("derivedcompoundref"):
                one.remove(derived)
            name = name_of(one)
            self.names.add(without_arguments(name))
            self.shown[one.get("kind")] += 1
            for _ in self.members_of(one, without_arguments(name) + "::"):
                pass
            header, line = place_of(one)
            self.classes.setdefault(header, []).append((line, one.get("kind"), name))
        for refid, scope in [("namespacecudag", "cudag::"), ("config_8hpp", "")]:
            for member in self.members_of(self.compound(refid), scope):
                self.members.setdefault(place_of(member)[0], []).append(member)

    def add_group(self, name, members):
        root = ET.Element("doxygen", version=self.index.getroot().get("version"))
        group = ET.SubElement(root, "compounddef", id=f"group__{name}", kind="group")
        ET.SubElement(group, "compoundname").text = name
        for kind, section in SECTIONS.items():
            if of_kind := [member for member in members if member.get("kind") == kind]:
                ET.SubElement(group, "sectiondef", kind=section).extend(of_kind)
        self.files[group.get("id")] = ET.ElementTree(root)
        entry = ET.SubElement(self.index.getroot(), "compound", refid=group.get("id"), kind="group")
        ET.SubElement(entry, "name").text = name

    def write_pages(self):
        PAGES.mkdir(exist_ok=True)
        links = dict(LINK.findall((DOCS / "cuda-rules.md").read_text()))
        for title, headers, sections in rows():
            lines = [title, "=" * len(title)]
            if sections:
                lines += ["", "CUDA's documentation: " + ", ".join(f"`{each} <{links[each]}>`__" for each in sections)]
            for header in headers:
                if "/" not in header:  # nobody includes those of detail/
                    purpose = (HEADERS / header).read_text().splitlines()[0].removeprefix("// ")
                    lines += ["", f"``cudag/{header}``", "-" * (len(header) + 10), "", purpose]
                for _, kind, name in sorted(self.classes.pop(header, [])):
                    lines += ["", f".. doxygen{kind}:: {name}"]
                if members := self.members.pop(header, []):
                    name = re.sub(r"\W", "_", header)
                    self.add_group(name, members)
                    lines += ["", ".. cpp:namespace-push:: cudag", f".. doxygengroup:: {name}", "   :content-only:",
                              ".. cpp:namespace-pop::"]
            (PAGES / f"{page_of(title)}.rst").write_text("\n".join(lines) + "\n")
        if left := sorted(self.classes.keys() | self.members.keys()):
            sys.exit("docs/reference.md lacks these headers, which have public names: " + ", ".join(left))

    def write_xml(self):
        for refid, tree in {**self.files, "index": self.index}.items():
            text = ET.tostring(tree.getroot(), encoding="unicode")
            text = re.sub(r"<ref refid=[^>]*_detail_1_1[^>]*>([^<]*)</ref>", r"\1", text)
            text = re.sub(r"\bdetail::(?=\w)", "", text)
            # A Located<T> is a T and the place of the call.
            text = re.sub(r"\bLocated&lt; ((?:<ref [^>]*>)?\w+(?:</ref>)?) &gt;", r"\1", text)
            (XML / f"{refid}.xml").write_text(text)


def write():
    named = Counter(header for _, headers, _ in rows() for header in headers)
    wrong = {path.name for path in HEADERS.glob("*.hpp")} ^ {header for header in named if "/" not in header}
    if wrong := sorted(wrong | {header for header, times in named.items() if times > 1}):
        sys.exit("docs/reference.md must name each header of include/cudag/ once; see " + ", ".join(wrong))
    reference = Reference()
    reference.read()
    reference.write_pages()
    reference.write_xml()
    NAMES.write_text("".join(name + "\n" for name in sorted(reference.names)))
    for word, counts in ("shows", reference.shown), ("omits", reference.omitted):
        print(f"The reference {word}", ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))


def check():
    inventory = (DOCS / "_build" / "html" / "objects.inv").read_bytes().split(b"\n", 4)[4]
    found = re.findall(r"^(.+?) c(?:pp)?:\w+ ", zlib.decompress(inventory).decode(), re.MULTILINE)
    if missing := sorted(set(NAMES.read_text().splitlines()) - set(map(without_arguments, found))):
        sys.exit("The finished site lacks these names: " + ", ".join(missing))


if __name__ == "__main__":
    check() if sys.argv[1:] == ["check"] else write()
