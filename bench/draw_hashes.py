#!/usr/bin/env python3
"""Computes hashes of the draws of short runs with every model, proposal, precision and form of the kernels.

    bench/draw_hashes.py --emomc build/release/bin/emomc --backend cpu -o before.json
    bench/draw_hashes.py --emomc build/release/bin/emomc --backend cpu --configs configs --data ../shared/data -o before.json
    bench/draw_hashes.py --compare before.json after.json

The last command shows whether a change of the code keeps the draws: it names the cases whose hashes differ and exits
with code 1 if there are any. On a GPU the sizes are chosen so that each form of the kernels runs.

With --configs the cases are instead the configurations of a directory, for a few steps. Those of `run` are compared by
their draws, and those of `evaluate` by the probabilities that follow from all draws. If a configuration describes how
to simulate its data, the program under test makes them; if the data are not available, the configuration is listed as
skipped.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROPOSALS = ["component_wise", "random_walk", "adaptive_metropolis", "crank_nicolson", "independence",
             "delayed_rejection", "differential_evolution", "stretch", "split_merge"]
NEED_CHAINS = {"differential_evolution", "stretch"}


def rows_of(count, columns, seed=1):
    """Returns three clumps of rows, by a linear congruential generator that does not depend on the version of
    Python."""
    state = seed
    lines = [",".join(f"x{j}" for j in range(columns))]
    for i in range(count):
        row = []
        for j in range(columns):
            total = 0.0
            for _ in range(4):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
                total += (state >> 11) / 2 ** 53
            row.append(f"{3.0 * (i % 3) + (1 + j % 2) * (total - 2):.6f}")
        lines.append(",".join(row))
    return "\n".join(lines) + "\n"


def cases(backend):
    """Yields name, rows, columns, and lines of the configuration."""
    def case(model, rows, columns, chains, proposal, precision, components=3, steps=60):
        named = {"two_gaussian": "model: two_gaussian",
                 "student_t_mixture": f"model: student_t_mixture, components: {components}"}
        likelihood = "{" + named.get(model, f"components: {components}, covariance: {model}") + f", precision: {precision}}}"
        text = (f"likelihood: {likelihood}\n"
                f"sampler: {{chains: {chains}, warmup: {steps}, draws: {steps}, thin: 2, init: prior, seed: 7, "
                f"proposal: {{kind: {proposal}}}}}\n")
        name = f"{model} {precision} {rows}x{columns} K={components} {chains} chains {proposal}"
        return name, rows, columns, text

    for proposal in PROPOSALS:
        chains = 40 if proposal in NEED_CHAINS else 4
        for precision in ("mixed", "double"):
            yield case("diagonal", 700, 2, chains, proposal, precision)
    for model, columns in (("diagonal", 5), ("spherical", 3), ("tied", 3), ("full", 3), ("two_gaussian", 1),
                           ("student_t_mixture", 3)):
        for precision in ("mixed", "double"):
            for proposal in ("component_wise", "random_walk"):
                for components in ((3,) if model == "two_gaussian" else (1, 4, 9)):
                    yield case(model, 1500, columns, 4, proposal, precision, components)
    if backend == "reference":
        return
    yield case("diagonal", 5316, 13, 4, "component_wise", "mixed", 8)
    if backend != "cuda":
        return
    for proposal in ("component_wise", "random_walk"):
        # The sizes have few chains, one chain for each multiprocessor, several chains in each, more rows than a
        # cluster holds, and launched kernels.
        for rows, chains in ((5316, 1), (3000, 100), (500, 200), (5316, 256), (100_000, 1), (400_000, 1),
                             (60_000, 40), (2000, 1500)):
            yield case("diagonal", rows, 5, chains, proposal, "mixed", 8, 30)
        for model in ("tied", "full", "student_t_mixture"):
            for rows, chains in ((1000, 1), (500, 300), (30_000, 1), (60_000, 40)):
                yield case(model, rows, 4, chains, proposal, "mixed", 4, 30)
        for rows, chains in ((1000, 1), (3000, 100), (5316, 256), (100_000, 1), (60_000, 40)):
            yield case("diagonal", rows, 5, chains, proposal, "double", 8, 30)
            yield case("two_gaussian", rows, 1, chains, proposal, "double", 2, 30)


def draws_of(binary, backend, folder, case):
    name, rows, columns, text = case
    data = folder / f"{rows}x{columns}.csv"
    run = folder / hashlib.sha256(name.encode()).hexdigest()[:16]
    config = run.with_suffix(".yaml")
    config.write_text(f"data: {{file: {data}, standardize: true}}\n{text}output: {{directory: {run}}}\n")
    result = subprocess.run([binary, "run", str(config), "--backend", backend, "--threads", "1", "-q"],
                            capture_output=True, text=True)
    return name, failure_of(result) or hash_of_run(binary, run)


def failure_of(result):
    return f"exit code {result.returncode}: {result.stderr.strip().splitlines()[-1:]}" if result.returncode else ""


def hash_of_run(binary, run):
    # Chain files are divided where segments ended, which depends on time, but the table of draws is not.
    table = subprocess.run([binary, "export", str(run), "--format", "csv", "-o", "-"], capture_output=True)
    return f"export: exit code {table.returncode}" if table.returncode else hashlib.sha256(table.stdout).hexdigest()


# Returns the overrides that make a run short.
def short_run(backend):
    steps = 20 if backend == "reference" else 100
    return [f"sampler.warmup={steps}", f"sampler.draws={steps // 2}", "sampler.thin=2"]


# An evaluation has a posterior for each speaker and class, and more posteriors if a temper is learned.
SHORT_EVALUATION = ["sampler.chains=2", "sampler.warmup=4", "sampler.draws=4", "sampler.thin=1",
                    "classification.temper=1", "baseline=none"]


def kind_of(text):
    """Returns "run" or "evaluate", or an empty text for a configuration of simulate."""
    keys = set(re.findall(r"^(\w+):", text, re.MULTILINE))
    return "" if "parameters" in keys else "run" if "data" in keys else "evaluate" if "corpus" in keys else ""


def prepared_project(binary, configs, data, folder):
    """Returns a working directory in which the relative paths of the configurations lead to their files."""
    project = folder / "project"
    project.mkdir()
    (project / "configs").symlink_to(configs.resolve())
    if data:
        (folder / "shared").mkdir()
        (folder / "shared" / "data").symlink_to(data.resolve())
    texts = {path: path.read_text() for path in sorted(configs.rglob("*.yaml"))}
    simulations = {match for text in texts.values()
                   for match in re.findall(r"emomc simulate configs/(\S+) -o (\S+)", text)}
    for config, output in sorted(simulations):
        subprocess.run([binary, "simulate", f"configs/{config}", "-o", output, "-q"], cwd=project, check=True)
    return project, {str(path.relative_to(configs)): text for path, text in texts.items() if kind_of(text)}


def hash_of_config(binary, backend, project, name, text):
    kind = kind_of(text)
    section = re.search(r"^(?:data|corpus):\n((?: .*\n)+)", text, re.MULTILINE)
    needed = re.search(r"^ +(?:file|path): *([^#\s]+)", section.group(1), re.MULTILINE) if section else None
    if needed is None or not any(project.glob(needed.group(1)) if not needed.group(1).startswith("..") else
                                 project.parent.glob(needed.group(1).removeprefix("../"))):
        return name, "skipped: its data are absent"
    output = f"hashed/{name.removesuffix('.yaml')}"
    overrides = [part for value in (short_run(backend) if kind == "run" else SHORT_EVALUATION) for part in ("--set", value)]
    result = subprocess.run([binary, kind, f"configs/{name}", "--backend", backend, "--threads", "1", "-q",
                             "-o", output, *overrides], cwd=project, capture_output=True, text=True)
    if failure_of(result):
        return name, failure_of(result)
    if kind == "run":
        return name, hash_of_run(binary, project / output)
    return name, hashlib.sha256((project / output / "predictions.csv").read_bytes()).hexdigest()


def hashes_of_configs(options, folder):
    project, texts = prepared_project(options.emomc, options.configs, options.data, folder)
    chosen = [name for name in texts if options.only in name]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return gathered(pool.map(lambda n: hash_of_config(options.emomc, options.backend, project, n, texts[n]),
                                 chosen), len(chosen))


def gathered(results, count):
    hashes = {}
    for done, (case, digest) in enumerate(results, 1):
        hashes[case] = digest
        print(f"{done}/{count} {case}: {digest[:60]}", file=sys.stderr)
    return hashes


def hashes_of_cases(options, folder):
    chosen = [c for c in cases(options.backend) if options.only in c[0]]
    for rows, columns in {(c[1], c[2]) for c in chosen}:
        (folder / f"{rows}x{columns}.csv").write_text(rows_of(rows, columns))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return gathered(pool.map(lambda c: draws_of(options.emomc, options.backend, folder, c), chosen), len(chosen))


def is_skipped(value):
    return value.startswith("skipped: ")


def is_hash(value):
    return len(value) == 64 and all(c in "0123456789abcdef" for c in value)


def compare(before, after):
    first, second = (json.loads(pathlib.Path(p).read_text()) for p in (before, after))
    failed = [f"{path}: {name}: {value}" for path, hashes in ((before, first), (after, second))
              for name, value in hashes.items() if not is_hash(value) and not is_skipped(value)]
    for line in failed:
        print(f"failed: {line}")
    differ = [name for name in first if name in second and first[name] != second[name]]
    for name in differ:
        print(f"differs: {name}\n  {first[name]}\n  {second[name]}")
    missing = sorted(set(first) ^ set(second))
    for name in missing:
        print(f"only in one of them: {name}")
    skipped = [name for name, value in first.items() if is_skipped(value)]
    for name in skipped:
        print(f"{name}: {first[name]}")
    compared = len(first) - len(skipped)
    print(f"{compared} cases, {len(differ)} differ, {len(missing)} in one file only, {len(failed)} failed, "
          f"{len(skipped)} skipped")
    return 1 if differ or missing or failed or compared <= 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--backend", choices=["reference", "cpu", "cuda"], default="cpu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("-o", "--output", help="a JSON file, name: hash")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--configs", type=pathlib.Path, help="hash the configurations of this directory instead")
    parser.add_argument("--data", type=pathlib.Path, help="with --configs: the folder that replaces ../shared/data")
    options = parser.parse_args()
    if options.compare:
        return compare(*options.compare)
    options.emomc = str(pathlib.Path(options.emomc).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        hashes = hashes_of_configs(options, folder) if options.configs else hashes_of_cases(options, folder)
    text = json.dumps(hashes, indent=1)
    if options.output:
        pathlib.Path(options.output).write_text(text + "\n")
    else:
        print(text)
    return 0 if hashes and all(is_hash(value) or is_skipped(value) for value in hashes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
