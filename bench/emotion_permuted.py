#!/usr/bin/env python3
"""Measures what `emomc evaluate` finds if there is nothing to find: EMO-DB's emotions are permuted within each
speaker.

An evaluation makes all its choices by the permuted labels. The mean UAR over permutations is 1 / 7 if predictions for
test speakers do not depend on their labels. Functionals are computed once and read as a table. Chains are short, since
noise of draws does not raise the UAR of labels without information.

    bench/emotion_permuted.py EMODB --emomc build/release/bin/emomc [--permutations 20]

The script prints UAR and log loss of each permutation and their means with standard errors. The exit code is 1 if the
mean UAR is not within 0.02 of chance.
"""
import argparse
import csv
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

LETTERS = dict(W="anger", L="boredom", E="disgust", A="fear", F="happiness", T="sadness", N="neutral")


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {result.stderr}")


def permuted(files, seed):
    """Returns the emotion of each file, shuffled within speakers."""
    shuffle, emotion = random.Random(seed), {}
    for speaker in sorted({file.name[:2] for file in files}):
        own = [file for file in files if file.name[:2] == speaker]
        labels = [LETTERS[file.name[5]] for file in own]
        shuffle.shuffle(labels)
        emotion.update(zip(own, labels))
    return emotion


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--permutations", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the seed of the first permutation, to divide them among processes")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of emomc evaluate")
    arguments = parser.parse_args()
    files = sorted(arguments.corpus.resolve().rglob("*.wav"))
    if not files:
        sys.exit(f"{arguments.corpus}: no WAV file is in it")
    settings = [part for one in arguments.set for part in ("--set", one)]
    uars, losses = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        call(arguments.emomc, "features", "--corpus", "emodb", arguments.corpus, "-o", folder / "f", "--functionals", "full")
        (folder / "c.yaml").write_text(
            f"corpus: {{kind: manifest, path: '{folder}/m.csv'}}\nfeatures: {{table: '{folder}/f/functionals.csv'}}\n"
            f"softmax: {{chains: 2, warmup: 40, draws: 60}}\n", encoding="utf-8")
        for seed in range(arguments.first, arguments.first + arguments.permutations):
            with open(folder / "m.csv", "w", encoding="utf-8", newline="") as out:
                csv.writer(out).writerows([["path", "label", "speaker"],
                                           *([f, e, f.name[:2]] for f, e in permuted(files, seed).items())])
            call(arguments.emomc, "evaluate", folder / "c.yaml", *settings, "--seed", seed, "-q", "--force", "-o", folder / "run")
            scores = json.loads((folder / "run" / "scores.json").read_text(encoding="utf-8"))["posterior"]
            uars.append(scores["uar"])
            losses.append(scores["log_loss"])
            print(f"permutation {seed:3}: UAR {uars[-1]:.3f}, log loss {losses[-1]:.3f}", flush=True)
    chance = 1 / len({file.name[5] for file in files})
    error = statistics.stdev(uars) / len(uars) ** 0.5 if len(uars) > 1 else float("nan")
    mean = statistics.mean(uars)
    print(f"mean UAR {mean:.4f} (standard error {error:.4f}), chance {chance:.4f}; mean log loss {statistics.mean(losses):.3f}")
    sys.exit(0 if abs(mean - chance) <= 0.02 else 1)


if __name__ == "__main__":
    main()
