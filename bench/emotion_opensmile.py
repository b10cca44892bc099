#!/usr/bin/env python3
"""Compares `emomc evaluate` on EMO-DB with scikit-learn's softmax regression and linear support vector machine (SVM)
on openSMILE's ComParE 2016 functionals, on the same folds: each speaker is left out in turn, and functionals are
standardised by speaker. Training speakers that are left out in turn choose the penalty, of the regression by their log
loss and of the SVM by their UAR, the usual baseline of the ComParE challenges. The SVM weights classes equally; its
decision values, times a factor with the least log loss for the same speakers, are logits.

openSMILE's licence is for research only: openSMILE is not part of this project, and may not be used commercially
without another licence. This script is therefore only run by hand, with packages that you install yourself:

    pip install opensmile scikit-learn numpy
    bench/emotion_opensmile.py EMODB --emomc build/release/bin/emomc [--set ComParE_2016 | eGeMAPSv02] [--seeds 5]

The script prints scores and paired differences over speakers of four methods: emomc with its own functionals, emomc
with openSMILE's table (`features.table`), and scikit-learn's regression and SVM on that table. `--methods` leaves out some of
them. The table is removed at the end.
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


def extract(files, name, table):
    """Returns functionals, with 0 for undefined ones, and writes them to `table` in the format of openSMILE's
    Python package."""
    import opensmile
    import pandas
    smile = opensmile.Smile(feature_set=getattr(opensmile.FeatureSet, name),
                            feature_level=opensmile.FeatureLevel.Functionals)
    rows = []
    for i, file in enumerate(files):
        rows.append(smile.process_file(str(file)))
        if i % 25 == 24:
            print(f"openSMILE: {i + 1} of {len(files)}", file=sys.stderr)
    frame = pandas.concat(rows)
    frame.to_csv(table)  # columns file, start, end and the functionals
    return np.nan_to_num(frame.to_numpy(dtype=float))


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
    p = np.full((test.sum(), len(classes)), 1e-9)  # the value for a class that no training speaker has
    p[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(x[test])
    return p / p.sum(1, keepdims=True)


def loss_of(p, label, classes):
    return -np.log(p[np.arange(len(label)), np.searchsorted(classes, label)])


def decisions(x, label, train, test, penalty, classes):
    """Returns the SVM's decision values [rows x classes]; a class that no training speaker has gets the lowest."""
    from sklearn.svm import LinearSVC
    model = LinearSVC(C=penalty * x.shape[1], class_weight="balanced", max_iter=20000, random_state=1).fit(x[train], label[train])
    values = model.decision_function(x[test])
    result = np.full((test.sum(), len(classes)), values.min() - 1)
    result[:, np.searchsorted(classes, model.classes_)] = values
    return result


def softmax(logits):
    p = np.exp(logits - logits.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def leave_one_out_svm(x, speaker, label):
    from scipy.optimize import minimize_scalar
    classes, speakers = np.unique(label), np.unique(speaker)
    inner = {}  # decision values of speaker b of the SVM without a and b
    for i, a in enumerate(speakers):
        for b in speakers[i + 1:]:
            train = (speaker != a) & (speaker != b)
            for penalty in PENALTIES:
                values = decisions(x, label, train, ~train, penalty, classes)
                inner[a, b, penalty], inner[b, a, penalty] = values[speaker[~train] == b], values[speaker[~train] == a]
        print(f"SVM: inner folds of speaker {a} done", file=sys.stderr)
    result = np.zeros((len(label), len(classes)))
    for a in speakers:
        truth = np.concatenate([label[speaker == b] for b in speakers if b != a])
        values = {c: np.concatenate([inner[a, b, c] for b in speakers if b != a]) for c in PENALTIES}
        best = max(PENALTIES, key=lambda c: uar(values[c], np.searchsorted(classes, truth)))
        factor = minimize_scalar(lambda log: loss_of(softmax(np.exp(log) * values[best]), truth, classes).mean(),
                                 bounds=(-5, 10), method="bounded").x
        result[speaker == a] = softmax(np.exp(factor) * decisions(x, label, speaker != a, speaker == a, best, classes))
    return result


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


def by_emomc(program, corpus, seeds, class_prior, table=None):
    """Returns the probabilities of each seed; the functionals are emomc's own or those of `table`."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "c.yaml"
        features = f"features: {{table: '{table}'}}\n" if table else ""
        classes = f"classification: {{class_prior: {class_prior}}}\n"
        config.write_text(f"corpus: {{kind: emodb, path: '{corpus}'}}\n{features}{classes}", encoding="utf-8")
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
    parser.add_argument("--methods", nargs="+", default=["own", "table", "sklearn", "svm"], choices=["own", "table", "sklearn", "svm"])
    parser.add_argument("--class-prior", default="uniform", choices=["uniform", "observed"],
                        help="emomc's weights of classes; scikit-learn's regression weights them as they are observed")
    options = parser.parse_args()
    files = sorted(options.corpus.resolve().rglob("*.wav"))
    if not files:
        fail(f"{options.corpus}: no WAV file is in it")
    found = {}  # name: probabilities of each seed, with rows in the same order for all methods
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "table.csv"
        x = extract(files, options.set, table)
        ids = None
        for method, source in (("own", None), ("table", table)):
            if method not in options.methods:
                continue
            ids, results, classes, truths, seconds = by_emomc(
                options.emomc, options.corpus.resolve(), options.seeds, options.class_prior, source)
            name = "its own functionals" if method == "own" else options.set
            found[f"emomc, {name}, classes {options.class_prior}, mean of {options.seeds} seeds ({np.mean(seconds):.0f} s each)"] = results
    if ids is None:
        fail("--methods: one of own and table is needed")
    order = {file.stem: i for i, file in enumerate(files)}
    x = x[[order[pathlib.PurePath(name).name] for name in ids]]
    speaker = np.array([pathlib.PurePath(name).name[:2] for name in ids])
    truth = np.array([classes.index(name) for name in truths])
    if "sklearn" in options.methods:
        found[f"scikit-learn, {options.set}"] = [leave_one_out(standardised(x, speaker), speaker, truth)]
    if "svm" in options.methods:
        found[f"SVM, {options.set}"] = [leave_one_out_svm(standardised(x, speaker), speaker, truth)]

    def scores(p, rows):
        return uar(p[rows], truth[rows]), loss_of(p[rows], truth[rows], np.arange(len(classes))).mean()

    # UAR and log loss are means over seeds, over all speakers and then without each of them.
    subsets = [np.ones(len(truth), bool)] + [speaker != s for s in np.unique(speaker)]
    values = {name: np.array([np.mean([scores(p, rows) for p in seeds], axis=0) for rows in subsets])
              for name, seeds in found.items()}
    from scipy.stats import t
    n = len(subsets) - 1
    print(f"{'':64}{'UAR':>7} {'log loss':>9}")
    for name, one in values.items():
        print(f"{name:64}{one[0, 0]:7.3f} {one[0, 1]:9.3f}")
    names = list(values)
    for i, first in enumerate(names):
        for second in names[i + 1:]:
            print(f"{first}\n  less {second} (95 %, jackknife over speakers)")
            for column, score in enumerate(("UAR", "log loss")):
                d = values[first][:, column] - values[second][:, column]
                half = t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((d[1:] - d[1:].mean()) ** 2).sum())
                print(f"    {score}: {d[0]:+.3f} [{d[0] - half:+.3f}, {d[0] + half:+.3f}]")


if __name__ == "__main__":
    main()
