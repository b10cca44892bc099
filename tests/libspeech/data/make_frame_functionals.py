"""Functionals of frames by NumPy and a penalised softmax regression on them by scikit-learn, from docs/functionals.md and
docs/softmax.md. Writes frame_functionals.json, which frame_functionals_test and softmax_frames_test read. Needs numpy and
scikit-learn.
"""
import json
import os

import numpy as np
from sklearn.linear_model import LogisticRegression

PRIOR_SD, BIAS_SD, COLUMNS = 2.0, 5.0, ["c0", "c1"]
EMOTIONS, SPEAKERS = ["calm", "cross", "glad"], ["A", "B", "C", "D"]


def delta(x, reach=2):
    """Returns regression slopes over five frames, the first and last of which are repeated (The HTK Book, 5.9)."""
    padded = np.pad(x, ((reach, reach), (0, 0)), mode="edge")
    n = len(x)
    return sum(k * (padded[reach + k:reach + k + n] - padded[reach - k:reach - k + n])
               for k in range(1, reach + 1)) / (2 * sum(k * k for k in range(1, reach + 1)))


def functionals(x):
    """Returns mean, sd, p10, p50 and p90 of each column, then of each derivative."""
    both = np.hstack([x, delta(x)])
    return np.stack([both.mean(0), both.std(0), *np.quantile(both, [0.1, 0.5, 0.9], axis=0)]).T.ravel()


def main():
    random = np.random.default_rng(7)
    utterances = []
    for speaker in SPEAKERS:
        voice = random.normal(size=len(COLUMNS))
        for e, emotion in enumerate(EMOTIONS):
            for take in range(2 + (e == 1)):  # one class has more, so that its rows count less
                noise = random.normal(size=(9 + take, len(COLUMNS)))
                frames = voice + np.cumsum(noise, axis=0) * (0.2 + 0.2 * e) + [e, 0]
                utterances.append((speaker, emotion, take, np.round(frames, 3)))
    table = np.array([functionals(frames) for *_, frames in utterances])
    speaker_of = np.array([u[0] for u in utterances])
    truth = np.array([EMOTIONS.index(u[1]) for u in utterances])
    rows = table.copy()
    for speaker in SPEAKERS:
        own = speaker_of == speaker
        rows[own] = (rows[own] - rows[own].mean(0)) / rows[own].std(0)
    # Weights have the prior sd PRIOR_SD / sqrt(p), and the bias BIAS_SD, for which its column is scaled.
    p = rows.shape[1]
    design = np.hstack([rows, np.full((len(rows), 1), BIAS_SD * np.sqrt(p) / PRIOR_SD)])
    probability = np.empty((len(rows), len(EMOTIONS)))
    for speaker in SPEAKERS:
        train = speaker_of != speaker
        model = LogisticRegression(C=PRIOR_SD**2 / p, fit_intercept=False, class_weight="balanced", tol=1e-10,
                                   max_iter=100000).fit(design[train], truth[train])
        probability[~train] = model.predict_proba(design[~train])
    result = {"columns": COLUMNS, "emotions": EMOTIONS, "prior_sd": PRIOR_SD,
              "utterances": [{"speaker": s, "emotion": e, "take": t, "frames": f.tolist(),
                              "functionals": [float(x) for x in row], "probability": [round(float(x), 7) for x in q]}
                             for (s, e, t, f), row, q in zip(utterances, table, probability)]}
    with open(os.path.join(os.path.dirname(__file__), "frame_functionals.json"), "w") as file:
        json.dump(result, file)
        file.write("\n")


if __name__ == "__main__":
    main()
