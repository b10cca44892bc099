"""Computes scores of random predictions by scikit-learn, and McNemar's test by SciPy. Writes scores.json, which scores_test
reads.

Needs numpy, scipy and scikit-learn (>= 1.7, the first version with the Brier score of several classes). The
calibration error is implemented here, since scikit-learn has none.
"""
import json
import pathlib

import numpy as np
from scipy.stats import binomtest
from sklearn import metrics


def listed(values):
    return [None if np.isnan(v) else float(v) for v in np.atleast_1d(values)]


def calibration_error(probability, truth):
    top, right = probability.max(axis=1), probability.argmax(axis=1) == truth
    bin_of = np.digitize(top, np.arange(1, 10) / 10, right=True)  # (b/10, (b+1)/10]
    return sum((bin_of == b).mean() * abs(top[bin_of == b].mean() - right[bin_of == b].mean())
               for b in np.unique(bin_of))


def case(rng, n, num_classes, sharpness, true_classes):
    truth = rng.choice(true_classes, size=n)
    logits = sharpness * rng.normal(size=(n, num_classes))
    logits[np.arange(n), truth] += min(1, sharpness)
    logits[:, -1] -= 20 if num_classes == 5 else 0  # never predicted, but above the value at which log_loss clips
    logits -= logits.max(axis=1, keepdims=True)
    log_probability = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    probability = np.exp(log_probability)
    predicted = probability.argmax(axis=1)
    classes = np.arange(num_classes)
    each = dict(labels=classes, average=None, zero_division=np.nan)
    return dict(
        num_classes=num_classes, truth=truth.tolist(), log_probability=log_probability.ravel().tolist(),
        accuracy=metrics.accuracy_score(truth, predicted),
        uar=metrics.balanced_accuracy_score(truth, predicted),
        recall=listed(metrics.recall_score(truth, predicted, **each)),
        precision=listed(metrics.precision_score(truth, predicted, **each)),
        confusion=metrics.confusion_matrix(truth, predicted, labels=classes).ravel().tolist(),
        log_loss=metrics.log_loss(truth, probability, labels=classes),
        brier=metrics.brier_score_loss(truth, probability, labels=classes),
        calibration_error=calibration_error(probability, truth))


rng = np.random.default_rng(20260901)
cases = [case(rng, 80, 4, 1.0, [0, 1, 2, 3]), case(rng, 60, 5, 2.0, [0, 1, 3, 4]), case(rng, 9, 3, 0.5, [0, 1, 2])]
mcnemar = [dict(only_first=a, only_second=b, p_value=binomtest(a, a + b, 0.5).pvalue if a + b else 1.0)
           for a, b in [(0, 0), (1, 0), (3, 3), (2, 9), (10, 1), (40, 61), (1200, 1000), (600000, 602500), (0, 900)]]
text = json.dumps(dict(cases=cases, mcnemar=mcnemar), indent=0)
pathlib.Path(__file__).with_name("scores.json").write_text(text + "\n")
