"""Computes the median log likelihood of 20 scikit-learn fits (K = 8, diagonal covariance, k-means starts 0..19) to the Sad
frames in their own units, with which sad_test.cpp compares. Argument: the folder with the CSV files of the thesis."""
import glob
import sys

import numpy as np
from sklearn.mixture import GaussianMixture

files = sorted(glob.glob(sys.argv[1] + "/Sad_*.csv"))
x = np.concatenate([np.loadtxt(f, delimiter=",", skiprows=1)[:, 2:] for f in files])
fits = [
    GaussianMixture(8, covariance_type="diag", random_state=i, max_iter=500, tol=1e-4).fit(x).score(x) * len(x)
    for i in range(20)
]
print(len(x), np.median(fits), min(fits), max(fits))
