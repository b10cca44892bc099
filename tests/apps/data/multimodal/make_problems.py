#!/usr/bin/env python3
"""Writes 20 small data sets that a mixture with too few components can divide in several ways (multimodal_NN.csv),
and 20 corresponding ones with as many groups as components (unimodal_NN.csv).

    python3 make_problems.py PROGRAM FOLDER

PROGRAM is emomc. Its `check` gives the approximate shares of the optima, and a data set is used if the second optimum
has at least 10 %. The means in reference.json do not come from emomc: reference.cpp computes them.
"""
import json, pathlib, random, subprocess, sys, tempfile

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def rows(rng, centres, sizes, sd):
    return [[rng.gauss(c, sd) for c in centre] for centre, size in zip(centres, sizes) for _ in range(size)]


def problem(rng, kind):
    """Returns the number of components, and the centres of the groups of the problem and of its twin."""
    jitter = lambda: rng.uniform(-0.4, 0.4)
    if kind == 0:  # three groups on a line, two components: the middle group can join either side
        a = rng.uniform(4, 6)
        return 2, [[-a + jitter()], [jitter()], [a + jitter()]], [[-a], [a]]
    if kind == 1:  # corners of a square, two components: pairs of rows or of columns
        a = rng.uniform(2, 3)
        return 2, [[x * a + jitter(), y * a + jitter()] for x in (-1, 1) for y in (-1, 1)], [[-a, -a], [a, a]]
    a = rng.uniform(4, 6)  # four groups on a line, three components
    return 3, [[i * a + jitter()] for i in range(4)], [[i * a] for i in range(3)]


def write(path, data):
    names = "xy"[: len(data[0])]
    path.write_text(",".join(names) + "\n" + "".join(",".join(f"{v:.4f}" for v in row) + "\n" for row in data))


def second_share(path, components):
    with tempfile.TemporaryDirectory() as tmp:
        config = pathlib.Path(tmp) / "c.yaml"
        config.write_text(f"data: {{file: {path.resolve()}}}\nlikelihood: {{components: {components}, precision: double}}\n")
        out = subprocess.run([program, "check", config, "--json"], capture_output=True, text=True, check=True).stdout
    optima = json.loads(out)["starts"]["optima"]
    return optima[1]["share"] if len(optima) > 1 else 0


components, made, seed = {}, 0, 0
while made < 20:
    seed += 1
    rng = random.Random(seed)
    K, groups, twin = problem(rng, made % 3)
    sizes = [rng.randint(20, 45) for _ in groups]
    path = folder / f"multimodal_{made:02d}.csv"
    write(path, rows(rng, groups, sizes, 1))
    if second_share(path, K) < 0.1:
        continue
    write(folder / f"unimodal_{made:02d}.csv", rows(rng, twin, [rng.randint(35, 60) for _ in twin], 1))
    components[f"{made:02d}"] = K
    made += 1
(folder / "components.json").write_text(json.dumps(components, indent=1) + "\n")
