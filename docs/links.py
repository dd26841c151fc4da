#!/usr/bin/env python3
"""Checks that each link of the site in docs/_build/html to a page of its own, and to a place in it, leads somewhere."""
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).resolve().parent / "_build" / "html"


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], {"", "top"}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


page = cache(Page)


def main():
    pages = sorted(SITE.rglob("*.html"))
    count, broken = 0, []
    for path in pages:
        for link in page(path).links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            count += 1
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            if not target.is_file() or target.suffix == ".html" and unquote(address.fragment) not in page(target).places:
                broken.append(f"{path.relative_to(SITE)}: {link}")
    if broken:
        sys.exit("links without a target:\n" + "\n".join(broken))
    print(f"{len(pages)} pages, {count} internal links")


main()
