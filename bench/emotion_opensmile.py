#!/usr/bin/env python3
"""`emomc evaluate` of EMO-DB beside openSMILE's ComParE 2016 functionals with scikit-learn's softmax regression, on the same
folds: each speaker left out in turn, functionals standardised by speaker, penalty chosen by leaving training speakers out
in turn, by log loss alone.

openSMILE's licence is for research only: it is no part of this project, and nothing of it may be used commercially without
another licence. This script is therefore run by hand alone, with packages that you install yourself:

    pip install opensmile scikit-learn numpy
    bench/emotion_opensmile.py EMODB --emomc build/release/bin/emomc [--set ComParE_2016 | eGeMAPSv02] [--seeds 5]

It prints scores of both and their paired differences over speakers, and keeps no table.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PENALTIES = 10.0 ** np.arange(-5, 1.1, 0.5)  # C of scikit-learn, for columns divided by the root of their number


def fail(message):
    print(f"emotion_opensmile: {message}", file=sys.stderr)
    sys.exit(2)


def extract(files, name):
    import opensmile
    smile = opensmile.Smile(feature_set=getattr(opensmile.FeatureSet, name),
                            feature_level=opensmile.FeatureLevel.Functionals)
    rows = []
    for i, file in enumerate(files):
        rows.append(smile.process_file(str(file)).to_numpy()[0])
        if i % 25 == 24:
            print(f"openSMILE: {i + 1} of {len(files)}", file=sys.stderr)
    return np.nan_to_num(np.array(rows, dtype=float))


def standardised(x, speaker):
    z = np.zeros_like(x)
    for s in np.unique(speaker):
        rows = speaker == s
        sd = x[rows].std(0)
        z[rows] = (x[rows] - x[rows].mean(0)) / np.where(sd > 1e-12, sd, 1)
    u, s, _ = np.linalg.svd(z / np.sqrt(z.shape[1]), full_matrices=False)
    return (u * s)[:, s > 1e-9 * s[0]]


def probabilities(x, label, train, test, penalty, classes):
    from sklearn.linear_model import LogisticRegression
    model = LogisticRegression(C=penalty * x.shape[1], max_iter=2000).fit(x[train], label[train])
    p = np.full((test.sum(), len(classes)), 1e-9)  # a class that no training speaker has
    p[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(x[test])
    return p / p.sum(1, keepdims=True)


def loss_of(p, label, classes):
    return -np.log(p[np.arange(len(label)), np.searchsorted(classes, label)])


def leave_one_out(x, speaker, label):
    classes, speakers = np.unique(label), np.unique(speaker)
    pairs = {}
    for i, a in enumerate(speakers):
        for b in speakers[i + 1:]:
            train = (speaker != a) & (speaker != b)
            for penalty in PENALTIES:
                p = probabilities(x, label, train, ~train, penalty, classes)
                for one in (a, b):
                    pairs[a, b, penalty, one] = loss_of(p[speaker[~train] == one], label[speaker == one], classes)
        print(f"scikit-learn: inner folds of speaker {a} done", file=sys.stderr)
    result = np.zeros((len(label), len(classes)))
    for a in speakers:
        def inner(penalty):
            losses = [pairs[min(a, b), max(a, b), penalty, b] for b in speakers if b != a]
            return np.concatenate(losses).mean()
        best = min(PENALTIES, key=inner)
        result[speaker == a] = probabilities(x, label, speaker != a, speaker == a, best, classes)
    return result


def by_emomc(program, corpus, seeds):
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "c.yaml"
        config.write_text(f"corpus: {{kind: emodb, path: '{corpus}'}}\n", encoding="utf-8")
        subprocess.run([program, "evaluate", str(config), "--seeds", str(seeds), "-q", "-o", f"{folder}/run"], check=True)
        results, seconds = [], []
        for seed in range(1, seeds + 1):
            with open(f"{folder}/run/seed-{seed}/predictions.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            classes = [name for name in rows[0] if name.startswith("p_")]
            results.append(np.array([[float(row[name]) for name in classes] for row in rows]))
            with open(f"{folder}/run/seed-{seed}/scores.json", encoding="utf-8") as file:
                seconds.append(json.load(file)["seconds"]["all"])
        ids = [row["utterance"] for row in rows]
        return ids, results, [name[2:] for name in classes], [row["truth"] for row in rows], seconds


def uar(p, truth):
    return np.mean([(p.argmax(1)[truth == k] == k).mean() for k in np.unique(truth)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--emomc", required=True)
    parser.add_argument("--set", default="ComParE_2016", choices=["ComParE_2016", "eGeMAPSv02"])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    files = sorted(options.corpus.rglob("*.wav"))
    if not files:
        fail(f"{options.corpus}: no WAV file is in it")
    ids, results, classes, truths, seconds = by_emomc(options.emomc, options.corpus.resolve(), options.seeds)
    place = {file.stem: file for file in files}
    x = extract([place[name] for name in ids], options.set)
    speaker = np.array([name[:2] for name in ids])
    truth = np.array([classes.index(name) for name in truths])
    other = leave_one_out(standardised(x, speaker), speaker, truth)

    def scores(p, rows):
        return uar(p[rows], truth[rows]), loss_of(p[rows], truth[rows], np.arange(len(classes))).mean()

    every = np.ones(len(truth), bool)
    ours = np.array([np.mean([scores(p, rows) for p in results], axis=0)
                     for rows in [every] + [speaker != s for s in np.unique(speaker)]])
    theirs = np.array([scores(other, rows) for rows in [every] + [speaker != s for s in np.unique(speaker)]])
    from scipy.stats import t
    n = len(np.unique(speaker))
    print(f"{'':44}{'UAR':>7} {'log loss':>9}")
    print(f"{f'emomc, mean of {options.seeds} seeds ({np.mean(seconds):.0f} s each)':44}{ours[0, 0]:7.3f} {ours[0, 1]:9.3f}")
    print(f"{f'openSMILE {options.set} + scikit-learn':44}{theirs[0, 0]:7.3f} {theirs[0, 1]:9.3f}")
    for column, name in enumerate(("UAR", "log loss")):
        d = ours[:, column] - theirs[:, column]
        half = t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((d[1:] - d[1:].mean()) ** 2).sum())
        print(f"emomc less openSMILE, {name}: {d[0]:+.3f} [{d[0] - half:+.3f}, {d[0] + half:+.3f}] (95 %, jackknife over "
              "speakers)")


if __name__ == "__main__":
    main()
