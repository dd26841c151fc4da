#!/usr/bin/env python3
"""What Meson builds when nobody names a target is what it installs: default_build.py BUILD"""
import json
import sys
from pathlib import Path


def main():
    targets = json.loads((Path(sys.argv[1]) / "meson-info" / "intro-targets.json").read_text())
    extra = [target["name"] for target in targets
             if target["build_by_default"] and not target["installed"] and target["type"] != "alias"]
    if extra:
        sys.exit(f"built by default, but not installed: {', '.join(extra)}; they need build_by_default: false")


main()
