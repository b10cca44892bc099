"""Computes the mode of a softmax regression by SciPy. Writes softmax.json, which softmax_model_test reads. Needs numpy and scipy.

    make_softmax.py
"""
import json
import os

import numpy as np
import scipy.optimize
import scipy.special

ROWS, COLUMNS, CLASSES = 40, 3, 4


def noise(count):
    values, state = [], 1
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state / 2**32 - 0.5)
    return np.array(values)


def main():
    x = np.column_stack([4 * noise(ROWS * COLUMNS).reshape(ROWS, COLUMNS), np.ones(ROWS)])
    truth = np.arange(ROWS) % CLASSES
    x[:, 0] += 0.7 * (truth - 1.5)
    weight = 1 + 0.5 * (truth == 2)
    results = []
    for precision in (0.05, 1.0, 10.0):
        # These are the weights of all classes, and not of contrasts. Their sum over classes, which changes no
        # probability, is 0 at the mode.
        precisions = np.array([precision] * COLUMNS + [0.04])

        def loss(flat):
            w = flat.reshape(COLUMNS + 1, CLASSES)
            logs = scipy.special.log_softmax(x @ w, axis=1)
            residual = (np.exp(logs) - np.eye(CLASSES)[truth]) * weight[:, None]
            value = -(weight * logs[np.arange(ROWS), truth]).sum() + 0.5 * (precisions[:, None] * w**2).sum()
            return value, (x.T @ residual + precisions[:, None] * w).ravel()

        best = scipy.optimize.minimize(loss, np.zeros((COLUMNS + 1) * CLASSES), jac=True, method="BFGS",
                                       options={"gtol": 1e-9})
        w = best.x.reshape(COLUMNS + 1, CLASSES)
        results.append({"precision": precision, "weights": [[round(float(v), 8) for v in row] for row in w]})
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "softmax.json"), "w", encoding="utf-8") as file:
        json.dump({"rows": ROWS, "columns": COLUMNS, "classes": CLASSES, "modes": results}, file)
        file.write("\n")


main()
