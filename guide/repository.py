"""A preprocessor of mdBook: a link that leaves the book, such as ../../action.yml, leads to the file in the repository.

The sources keep relative links, which work where the repository is browsed, and in the archives of releases.
"""

import json
import posixpath
import re
import sys

REPOSITORY = "https://example.org/dmlcts/blob/main/"


def absolute(chapter):
    folder = posixpath.join("guide/src", posixpath.dirname(chapter["path"] or ""))

    def replace(match):
        path = posixpath.normpath(posixpath.join(folder, match[1]))
        return f"]({match[1] if path.startswith('guide/src/') else REPOSITORY + path}"

    chapter["content"] = re.sub(r"\]\((\.\./[^)#]*)", replace, chapter["content"])


def walk(value):
    if isinstance(value, dict) and "content" in value and "path" in value:
        absolute(value)
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        walk(child)


if sys.argv[1:2] != ["supports"]:  # every renderer is supported
    _, book = json.load(sys.stdin)
    walk(book)
    json.dump(book, sys.stdout)
