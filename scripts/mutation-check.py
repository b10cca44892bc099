#!/usr/bin/env python3
"""Applies each mutation of tests/mutations.toml to a copy of the tree, one at a time, and prints which tests catch it.

Exit code 0: all mutations are caught; 1: some survive; 2: a mutation does not fit the sources or does not compile, or
tests fail without a mutation.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST_SECONDS = 900  # a mutant that takes longer hangs and counts as caught


class Misfit(Exception):
    pass


def mutated(mutation):
    """Returns the text of the mutation's file after the mutation."""
    text = (ROOT / mutation["file"]).read_text()
    count = text.count(mutation["find"])
    if count != 1:
        raise Misfit(f'{mutation["name"]}: its text occurs {count} times in {mutation["file"]}, not once')
    return text.replace(mutation["find"], mutation["replace"])


def put(path, text):
    """Writes the file only if its text has changed, so that nothing else is compiled again."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def copy_tree(to, tests):
    """Copies all files except those of the tests that are not run."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, to / name
        own = tests.get("test_" + source.parent.name)
        if not source.is_file() or (own and name.endswith("_test.cpp") and source.name not in own["sources"]):
            target.unlink(missing_ok=True)
            continue
        content = source.read_bytes()
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(source.stat().st_mode)


def compile_programs(tree, build, programs, jobs):
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    if not (build / "build.ninja").exists():
        subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DEMOMC_CUDA=off"],
                       check=True, stdout=subprocess.DEVNULL, env=environment)
    result = subprocess.run(["cmake", "--build", build, "-j", str(jobs), "--target", *programs], capture_output=True,
                            text=True, env=environment)
    if result.returncode:
        raise Misfit("it does not compile:\n" + result.stdout[-3000:])


def suite_of(test):
    """Returns the suite of a test: "Kernel.IsRight", "Shapes/Engine.IsRight/cpu_3" and "Tile/0.IsRight" give
    Kernel, Engine and Tile."""
    return [part for part in test.split(".")[0].split("/") if not part.isdigit()][-1]


def failures(build, tests, jobs):
    """Returns the failed tests by suite. A program that dies or hangs counts as one failure. Each program runs in
    `jobs` parts at once."""
    failed = collections.Counter()
    running = []
    for program, own in tests.items():
        for part in range(jobs):
            parts = dict(os.environ, GTEST_TOTAL_SHARDS=str(jobs), GTEST_SHARD_INDEX=str(part))
            command = [build / "bin" / program, "--gtest_brief=1", "--gtest_filter=" + own["filter"]]
            running.append((program, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                                      errors="replace", env=parts)))
    for program, process in running:
        try:
            output, _ = process.communicate(timeout=TEST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            failed[f"{program} hangs"] += 1
            continue
        names = {line.split(",")[0] for line in re.findall(r"^\[  FAILED  \] (\S+\.\S+)", output, re.M)}
        failed.update(suite_of(name) for name in names)
        if process.returncode and not names:
            failed[f"{program} ends with {process.returncode}"] += 1
    return failed


def tests_of(mutation, tests):
    """Returns the tests of the library that is mutated and those that `also` names."""
    return {program: tests[program] for program in ("test_" + mutation["file"].split("/")[0], *mutation.get("also", []))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only whether every mutation still fits the sources")
    parser.add_argument("--only", nargs="+", metavar="WORDS", help="mutations whose names contain these words")
    parser.add_argument("--leave", action="store_true",
                        help="with --only: compile the first such mutation, and leave its programs in BUILD/build/bin")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "mutation", help="where the copy is built")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    known = tomllib.loads((ROOT / "tests" / "mutations.toml").read_text())
    mutations = known["mutation"]
    names = [m["name"] for m in mutations]
    try:
        if len(set(names)) != len(names):
            raise Misfit("two mutations have one name")
        for mutation in mutations:
            if mutated(mutation) == (ROOT / mutation["file"]).read_text():
                raise Misfit(f'{mutation["name"]}: it changes nothing')
        if arguments.check:
            print(f"{len(mutations)} mutations fit the sources")
            return 0
        if arguments.only:
            mutations = [m for m in mutations if any(words in m["name"] for words in arguments.only)]
        tree, build = arguments.build / "source", arguments.build / "build"
        tests = known["tests"]
        copy_tree(tree, tests)
        if arguments.leave:
            put(tree / mutations[0]["file"], mutated(mutations[0]))
            compile_programs(tree, build, tests_of(mutations[0], tests), arguments.jobs)
            print(f'{mutations[0]["name"]}: {build / "bin"}')
            return 0
        compile_programs(tree, build, tests, arguments.jobs)
        if failed := failures(build, tests, arguments.jobs):
            raise Misfit(f"tests fail without a mutation: {dict(failed)}")
        print("| mutation | caught by (failed tests of each suite) | seconds |\n|---|---|---|", flush=True)
        survivors = []
        for mutation in mutations:
            began = time.monotonic()
            own_tests = tests_of(mutation, tests)
            path = tree / mutation["file"]
            put(path, mutated(mutation))
            try:
                compile_programs(tree, build, own_tests, arguments.jobs)
                failed = failures(build, own_tests, arguments.jobs)
            finally:
                put(path, (ROOT / mutation["file"]).read_text())
            by = ", ".join(f"{suite} {count}" for suite, count in failed.most_common()) or "**nothing**"
            if not failed:
                survivors.append(mutation["name"])
            print(f'| {mutation["name"]} | {by} | {time.monotonic() - began:.0f} |', flush=True)
    except Misfit as misfit:
        print(f"mutation-check: {misfit}", file=sys.stderr)
        return 2
    print(f"\n{len(mutations) - len(survivors)} of {len(mutations)} caught")
    for name in survivors:
        print(f"survived: {name}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
