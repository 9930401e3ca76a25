"""A plugin for pytest: `pytest --dmlcts mine.py` runs dmlcts once on the backend mine.py.

The items are the strategies of the suite, for each operator, and the findings. The suite runs when pytest collects the items. The
program `dmlcts` must be on the PATH.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import pytest

OPTIONS = {
    "dmlcts": "the file of a backend in Python, to run dmlcts on",
    "dmlcts_args": "further arguments of `dmlcts run`, such as --suite ci",
}


class Unexpected(Exception):
    """The text of a failed test of dmlcts."""


class Item(pytest.Item):
    """A test of dmlcts, which has run already."""

    def __init__(self, *, case, **others):
        super().__init__(**others)
        self.case = case

    def runtest(self):
        for what in self.case.iter():
            if what.tag in ("failure", "error"):
                raise Unexpected("%s\n%s" % (what.get("message"), what.text or ""))
            if what.tag == "skipped":
                pytest.skip(what.get("message") or "skipped")

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, Unexpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, self.nodeid


def pytest_addoption(parser):
    group = parser.getgroup("dmlcts")
    for name, what in OPTIONS.items():
        group.addoption("--" + name.replace("_", "-"), help=what)
        parser.addini(name, what)


def run(config, backend):
    """The tests of a run on this backend, as elements of JUnit's XML."""
    program = shutil.which("dmlcts")
    if program is None:
        raise pytest.UsageError("the program dmlcts is not on the PATH: install it, or leave --dmlcts out")
    # In a command behind `exec:`, two quoted parts side by side are one word.
    words = ['"%s"' % word.replace('"', "\"'\"'\"") for word in (sys.executable, backend)]
    arguments = config.getoption("dmlcts_args") or config.getini("dmlcts_args")
    with tempfile.TemporaryDirectory() as folder:
        junit = os.path.join(folder, "junit.xml")
        command = [program, "run", "--quiet", "--backend", "exec:" + " ".join(words), "--junit", junit]
        ran = subprocess.run(command + shlex.split(arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = ran.stdout.decode(errors="replace")
        if not os.path.exists(junit) or not os.path.getsize(junit):
            raise pytest.UsageError("dmlcts ended with exit code %d:\n%s" % (ran.returncode, said))
        cases = list(ElementTree.parse(junit).iter("testcase"))
    failed = any(case.find(kind) is not None for case in cases for kind in ("failure", "error"))
    if ran.returncode and not failed:
        raise pytest.UsageError("dmlcts ended with exit code %d:\n%s" % (ran.returncode, said))
    return cases


@pytest.hookimpl(tryfirst=True)  # so that -k selects among these items, too
def pytest_collection_modifyitems(session, config, items):
    backend, of_file = config.getoption("dmlcts"), config.getini("dmlcts")
    if not backend and of_file:
        backend = os.path.join(str(config.rootpath), of_file)
    if backend:
        for case in run(config, backend):
            name = "%s::%s" % (case.get("classname"), case.get("name"))
            items.append(Item.from_parent(session, name=name, nodeid=name, case=case))
