"""Computes the numbers of tests/apps/fit_test.cpp by MIGRAD and HESSE of iminuit, from a column of events.

  emomc simulate simulation.yaml -o data && python3 two_gaussian_iminuit.py data/data.csv

Needs numpy and iminuit.
"""
import sys

import numpy as np
from iminuit import Minuit

x = np.loadtxt(sys.argv[1], skiprows=1)


def minus_log_likelihood(fraction, mean, narrow, wide):
    def density(sd):
        return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
    return -np.log(fraction * density(narrow) + (1 - fraction) * density(wide)).sum()


minuit = Minuit(minus_log_likelihood, fraction=0.5, mean=x.mean(), narrow=x.std() / 1.5, wide=1.5 * x.std())
minuit.errordef = Minuit.LIKELIHOOD
minuit.limits = [(0.001, 0.999), (None, None), (1e-3, None), (1e-3, None)]
minuit.strategy = 2
minuit.migrad()
minuit.hesse()
print(", ".join(f"{value:.8g}" for value in minuit.values))
print(", ".join(f"{error:.5g}" for error in minuit.errors))
