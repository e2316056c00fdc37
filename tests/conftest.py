# SPDX-License-Identifier: GPL-2.0-or-later
"""The order in which pytest's processes take the tests, and what they do when a sanitizer crashes."""

import os
import pathlib
import shutil
import tempfile

import _pytest.runner
import pytest

import modes

# Once in some ten thousand programs LeakSanitizer itself dies, after main(), of which nothing
# follows for the test: https://github.com/google/sanitizers/issues/1353.
SANITIZER_DIED = "LeakSanitizer has encountered a fatal error"


def has_a_victim(item):
    """Does it take a server that tests of its file kill, freeze and restart?"""
    return any(name.endswith("victim") for name in item.fixturenames)


def is_left_out(item):
    """Does ./check leave the item or its file out under this sanitizer?"""
    file = item.path.relative_to(pathlib.Path(__file__).parent).with_suffix("")
    sanitizer = os.environ.get("BENCH_SANITIZER")
    marker = {"asan": "sanitized", "tsan": "threads"}.get(sanitizer)
    if any(sanitizer in mark.args for mark in item.iter_markers("not_under")):
        return True
    if marker and item.get_closest_marker(marker):
        return False
    return str(file) in os.environ.get("BENCH_LEFT_OUT", "").split()


def is_meaningless(item):
    """Has the item all parameters of one of its markers `without`?"""
    return any(all(value in item.callspec.params.values() for value in marker.args)
               for marker in item.iter_markers("without") if hasattr(item, "callspec"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """One process takes all that share a victim, and begins early: --dist=loadgroup."""
    left_out = {item for item in items if is_left_out(item) or is_meaningless(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        if has_a_victim(item):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))
    items.sort(key=lambda item: not has_a_victim(item))


def pytest_generate_tests(metafunc):
    modes.parameters(metafunc)


@pytest.fixture
def run_mode(request, monkeypatch):
    """Of a test with the marker both_modes."""
    monkeypatch.setattr(modes, "workers", request.param)
    monkeypatch.setattr(modes, "given", 0)
    yield
    assert modes.given or not request.param, "no command line has passed through modes.command"


def pytest_configure(config):
    """Sanitizers write to files, because many a test looks neither at the exit status of a program
    nor at its standard error, or has no hand on either."""
    if not os.environ.get("BENCH_SANITIZER"):
        return
    config.sanitizer_logs = pathlib.Path(tempfile.mkdtemp(prefix="bench-sanitizer-"))
    config.sanitizer_logs.chmod(0o1777)  # some programs run as another user
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
        os.environ[name] = f"{os.environ.get(name, '')}:log_path={config.sanitizer_logs}/log"


def pytest_unconfigure(config):
    if hasattr(config, "sanitizer_logs"):
        shutil.rmtree(config.sanitizer_logs)


def take_logs(folder):
    """What sanitizers have said, which is forgotten."""
    said = [log.read_text(errors="replace") for log in sorted(folder.iterdir())]
    for log in folder.iterdir():
        log.unlink()
    return "\n".join(said)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    if not os.environ.get("BENCH_SANITIZER"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = _pytest.runner.runtestprotocol(item, nextitem=nextitem, log=False)
    said = take_logs(item.config.sanitizer_logs)
    if SANITIZER_DIED in said:
        reports = _pytest.runner.runtestprotocol(item, nextitem=nextitem, log=False)
        said = take_logs(item.config.sanitizer_logs)
    if said:
        report = next((report for report in reports if report.when == "call"), reports[-1])
        report.outcome, report.longrepr = "failed", f"{report.longrepr or ''}\n{said}"
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
