"""Values of the language's densities with 50 digits, from textbook formulas and not from the definitions in
liblikelihood/src/expression/densities.cpp, for densities_test.cpp:

    python3 make_densities.py > densities.txt

With names as arguments it makes only the values of those, and the edges of all. Needs mpmath and scipy (made with 1.4.1 and 1.17.1); a value is written only where SciPy's distribution of the same name,
if there is one, agrees with it. A line is: function, arguments, value, condition. The condition is the sum over the
arguments of |x f'(x)|: by how much the value changes with a relative change of them."""
import itertools
import math
import os
import sys

import numpy as np
import scipy.stats as st
from mpmath import inf, mp, mpf, nan

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../libcore/data"))
from make_special_functions import log_inc_beta, log_phi, log_skew_normal, log_tails_of_gamma, number  # noqa: E402

mp.dps = 50
np.seterr(all="ignore")


def log0(x):
    return mp.log(x) if x > 0 else -inf


def from_density(density):
    """Returns log f, where f is the density in the form of textbooks."""
    return lambda *a: log0(density(*a))


def of_survival(log_survival):
    return lambda *a: log0(-mp.expm1(log_survival(*a)))


def choose(n, k):
    return mp.binomial(n, k)


def gamma_density(y, a, b):
    return b**a / mp.gamma(a) * y**(a - 1) * mp.exp(-b * y)


def beta_density(y, a, b):
    return y**(a - 1) * (1 - y)**(b - 1) / mp.beta(a, b)


def student_tail(t, nu):
    value = log_inc_beta(nu / 2, mpf(1) / 2, nu / (nu + t * t)) - mp.log(2)
    return mp.log1p(-mp.exp(value)) if t < 0 else value


def neg_binomial(n, mu, phi):
    return mp.gamma(n + phi) / mp.gamma(phi) / mp.factorial(n) * (mu / (mu + phi))**n * (phi / (mu + phi))**phi


def summed(mass, upper):
    """Returns the log of the sum of the mass up to n, or beyond n up to where the mass is negligible."""
    def result(n, *parameters):
        if not upper:
            return log0(mp.fsum(mass(k, *parameters) for k in range(int(n) + 1)))
        total, k = mpf(0), int(n) + 1
        while True:
            term = mass(k, *parameters)
            total += term
            if k > 2 * n + 10 and term <= total * mpf(10)**-50:
                return log0(total)
            k += 1
    return result


def poisson(n, m):
    return m**n * mp.exp(-m) / mp.factorial(n)


def binomial(n, N, p):
    return choose(N, n) * p**n * (1 - p)**(N - n) if 0 <= n <= N else mpf(0)


def logistic_of(a):
    return 1 / (1 + mp.exp(-a))


# y, location, scale
lines = [(y, m, s) for y, m, s in itertools.product((-31.0, -3.5, -0.2, 0.0, 0.7, 4.0, 60.0), (-1.5, 0.0, 2.25), (0.3, 1.0, 12.5))]
one_positive = (1e-8, 0.02, 0.5, 1.0, 3.7, 40.0)
shapes = [(y, a, b) for y, a, b in itertools.product(one_positive, (0.4, 1.0, 2.5, 30.0), (0.3, 1.0, 7.0))]
on_unit = [(y, a, b) for y, a, b in itertools.product((1e-9, 0.03, 0.4, 0.5, 0.93, 1 - 2**-30), (0.2, 1.0, 3.5, 80.0), (0.5, 1.0, 9.0))]
counts = (0, 1, 2, 7, 40, 1000)
root_two = mp.sqrt(2)


def normal(y, m, s):
    return mp.npdf(y, m, s)


def skew(y, xi, w, a):
    return 2 / w * mp.npdf((y - xi) / w) * mp.erfc(-a * (y - xi) / w / root_two) / 2


def von_mises(y, m, k):
    return mp.exp(k * (mp.cos(y - m) - 1)) / (2 * mp.pi * mp.besseli(0, k) * mp.exp(-k))


# name: (function, arguments, SciPy's function or None)
CASES = {
    "normal_lpdf": (from_density(normal), lines, lambda y, m, s: st.norm.logpdf(y, m, s)),
    "normal_lcdf": (lambda y, m, s: log_phi((y - m) / s), lines, lambda y, m, s: st.norm.logcdf(y, m, s)),
    "normal_lccdf": (lambda y, m, s: log_phi((m - y) / s), lines, lambda y, m, s: st.norm.logsf(y, m, s)),
    "std_normal_lpdf": (from_density(mp.npdf), [(y / 4,) for y in range(-80, 81, 7)], st.norm.logpdf),
    "student_t_lpdf": (from_density(lambda y, n, m, s: mp.gamma((n + 1) / 2) / mp.gamma(n / 2) / mp.sqrt(n * mp.pi) / s
                                    * (1 + ((y - m) / s)**2 / n)**(-(n + 1) / 2)),
                       [(y, n, m, s) for y, m, s in lines[::2] for n in (0.3, 1.0, 4.0, 250.0, 1e6)],
                       lambda y, n, m, s: st.t.logpdf(y, n, m, s)),
    "student_t_lcdf": (lambda y, n, m, s: student_tail((m - y) / s, n),
                       [(y, n, m, s) for y, m, s in lines[::3] for n in (0.3, 1.0, 4.0, 250.0)],
                       lambda y, n, m, s: st.t.logcdf(y, n, m, s)),
    "student_t_lccdf": (lambda y, n, m, s: student_tail((y - m) / s, n),
                        [(y, n, m, s) for y, m, s in lines[1::3] for n in (0.3, 1.0, 4.0, 250.0)], None),
    "cauchy_lpdf": (from_density(lambda y, m, s: 1 / (mp.pi * s * (1 + ((y - m) / s)**2))), lines, st.cauchy.logpdf),
    "cauchy_lcdf": (lambda y, m, s: mp.log(mpf(1) / 2 + mp.atan((y - m) / s) / mp.pi), lines, st.cauchy.logcdf),
    "cauchy_lccdf": (lambda y, m, s: mp.log(mpf(1) / 2 - mp.atan((y - m) / s) / mp.pi), lines, st.cauchy.logsf),
    "double_exponential_lpdf": (from_density(lambda y, m, s: mp.exp(-abs(y - m) / s) / (2 * s)), lines, st.laplace.logpdf),
    "double_exponential_lcdf": (lambda y, m, s: mp.log(mp.exp((y - m) / s) / 2 if y < m else 1 - mp.exp((m - y) / s) / 2), lines,
                                st.laplace.logcdf),
    "double_exponential_lccdf": (lambda y, m, s: mp.log(mp.exp((m - y) / s) / 2 if y > m else 1 - mp.exp((y - m) / s) / 2), lines,
                                 st.laplace.logsf),
    "logistic_lpdf": (from_density(lambda y, m, s: mp.exp(-(y - m) / s) / (s * (1 + mp.exp(-(y - m) / s))**2)), lines, st.logistic.logpdf),
    "logistic_lcdf": (lambda y, m, s: -mp.log1p(mp.exp((m - y) / s)), lines, st.logistic.logcdf),
    "logistic_lccdf": (lambda y, m, s: -mp.log1p(mp.exp((y - m) / s)), lines, st.logistic.logsf),
    "gumbel_lpdf": (lambda y, m, s: -mp.log(s) - (y - m) / s - mp.exp((m - y) / s), lines, None),
    "gumbel_lcdf": (lambda y, m, s: -mp.exp((m - y) / s), lines, None),
    "gumbel_lccdf": (lambda y, m, s: mp.log(-mp.expm1(-mp.exp((m - y) / s))), lines, None),
    "skew_normal_lpdf": (from_density(skew), [(y, m, s, a) for y, m, s in lines[::2] for a in (-4.0, 0.0, 0.5, 30.0)], None),
    "skew_normal_lcdf": (lambda y, m, s, a: log_skew_normal((y - m) / s, a), [(y, 0.5, 2.0, a) for y in (-3.0, 0.0, 2.5) for a in (-4.0, 0.5)],
                         lambda y, m, s, a: st.skewnorm.logcdf(y, a, m, s)),
    "skew_normal_lccdf": (lambda y, m, s, a: log_skew_normal((m - y) / s, -a), [(y, 0.5, 2.0, a) for y in (-3.0, 0.0, 2.5) for a in (-4.0, 0.5)], None),
    "von_mises_lpdf": (from_density(von_mises), [(y, m, k) for y in (-3.0, 0.0, 0.1, 2.0, 9.0) for m in (-1.0, 0.3)
                                                for k in (0.0, 1e-6, 0.5, 3.0, 7.9, 8.1, 100.0, 1e5)], None),
    "lognormal_lpdf": (lambda y, m, s: mp.log(mp.npdf(mp.log(y), m, s) / y), [(y, m, s) for y in one_positive for _, m, s in lines[:9]],
                       lambda y, m, s: st.lognorm.logpdf(y, s, scale=math.exp(m))),
    "lognormal_lcdf": (lambda y, m, s: log_phi((mp.log(y) - m) / s), [(y, m, s) for y in one_positive for _, m, s in lines[:9]],
                       lambda y, m, s: st.lognorm.logcdf(y, s, scale=math.exp(m))),
    "lognormal_lccdf": (lambda y, m, s: log_phi((m - mp.log(y)) / s), [(y, m, s) for y in one_positive for _, m, s in lines[:9]],
                        lambda y, m, s: st.lognorm.logsf(y, s, scale=math.exp(m))),
    "exponential_lpdf": (from_density(lambda y, b: b * mp.exp(-b * y)), [(y, b) for y in one_positive for b in (0.2, 1.0, 5.5)],
                         lambda y, b: st.expon.logpdf(y, scale=1 / b)),
    "exponential_lcdf": (lambda y, b: mp.log(-mp.expm1(-b * y)), [(y, b) for y in one_positive for b in (0.2, 1.0, 5.5)],
                         lambda y, b: st.expon.logcdf(y, scale=1 / b)),
    "exponential_lccdf": (lambda y, b: -b * y, [(y, b) for y in one_positive for b in (0.2, 1.0, 5.5)], None),
    "gamma_lpdf": (from_density(gamma_density), shapes, lambda y, a, b: st.gamma.logpdf(y, a, scale=1 / b)),
    "gamma_lcdf": (lambda y, a, b: log_tails_of_gamma(a, b * y)[0], shapes, lambda y, a, b: st.gamma.logcdf(y, a, scale=1 / b)),
    "gamma_lccdf": (lambda y, a, b: log_tails_of_gamma(a, b * y)[1], shapes, lambda y, a, b: st.gamma.logsf(y, a, scale=1 / b)),
    "inv_gamma_lpdf": (lambda y, a, b: mp.log(gamma_density(1 / y, a, b) / y**2), shapes, lambda y, a, b: st.invgamma.logpdf(y, a, scale=b)),
    "inv_gamma_lcdf": (lambda y, a, b: log_tails_of_gamma(a, b / y)[1], shapes, None),
    "inv_gamma_lccdf": (lambda y, a, b: log_tails_of_gamma(a, b / y)[0], shapes, None),
    "chi_square_lpdf": (from_density(lambda y, n: gamma_density(y, n / 2, mpf(1) / 2)), [(y, n) for y in one_positive for n in (0.5, 1.0, 2.0, 9.0, 60.0)],
                        st.chi2.logpdf),
    "chi_square_lcdf": (lambda y, n: log_tails_of_gamma(n / 2, y / 2)[0], [(y, n) for y in one_positive for n in (0.5, 1.0, 2.0, 9.0)], st.chi2.logcdf),
    "chi_square_lccdf": (lambda y, n: log_tails_of_gamma(n / 2, y / 2)[1], [(y, n) for y in one_positive for n in (0.5, 1.0, 2.0, 9.0)], st.chi2.logsf),
    "weibull_lpdf": (lambda y, a, s: mp.log(a / s * (y / s)**(a - 1)) - (y / s)**a, [r for r in shapes if r[1] < 10],
                     lambda y, a, s: st.weibull_min.logpdf(y, a, scale=s)),
    "weibull_lcdf": (lambda y, a, s: log0(-mp.expm1(-(y / s)**a)), [r for r in shapes if r[1] < 10], lambda y, a, s: st.weibull_min.logcdf(y, a, scale=s)),
    "weibull_lccdf": (lambda y, a, s: -(y / s)**a, [r for r in shapes if r[1] < 10], lambda y, a, s: st.weibull_min.logsf(y, a, scale=s)),
    "frechet_lpdf": (lambda y, a, s: mp.log(a / s * (y / s)**(-a - 1)) - (y / s)**-a, [r for r in shapes if r[1] < 10 and r[0] > 0.01],
                     lambda y, a, s: st.invweibull.logpdf(y, a, scale=s)),
    "frechet_lcdf": (lambda y, a, s: -(y / s)**-a, [r for r in shapes if r[1] < 10], lambda y, a, s: st.invweibull.logcdf(y, a, scale=s)),
    "frechet_lccdf": (lambda y, a, s: mp.log1p(-mp.exp(-(y / s)**-a)), [r for r in shapes if r[1] < 10 and r[0] > 0.3], None),
    "rayleigh_lpdf": (lambda y, s: mp.log(y / s**2) - (y / s)**2 / 2, [(y, s) for y in one_positive for s in (0.4, 1.0, 9.0)],
                      lambda y, s: st.rayleigh.logpdf(y, scale=s)),
    "rayleigh_lcdf": (lambda y, s: mp.log(-mp.expm1(-(y / s)**2 / 2)), [(y, s) for y in one_positive for s in (0.4, 1.0, 9.0)], None),
    "rayleigh_lccdf": (lambda y, s: -(y / s)**2 / 2, [(y, s) for y in one_positive for s in (0.4, 1.0, 9.0)], None),
    "pareto_lpdf": (lambda y, m, a: mp.log(a * m**a / y**(a + 1)), [(y * m, m, a) for y in (1.0, 1.5, 1e3) for m in (0.2, 3.0) for a in (0.5, 1.0, 8.0)],
                    lambda y, m, a: st.pareto.logpdf(y, a, scale=m)),
    "pareto_lcdf": (lambda y, m, a: mp.log(-mp.expm1(-a * mp.log(y / m))), [(y * m, m, a) for y in (1.0001, 1.5, 1e3) for m in (0.25, 3.0) for a in (0.5, 1.0, 8.0)],
                    lambda y, m, a: st.pareto.logcdf(y, a, scale=m)),
    "pareto_lccdf": (lambda y, m, a: -a * mp.log(y / m), [(y * m, m, a) for y in (1.0001, 1.5, 1e3) for m in (0.25, 3.0) for a in (0.5, 1.0, 8.0)], None),
    "beta_lpdf": (from_density(beta_density), on_unit, st.beta.logpdf),
    "beta_lcdf": (lambda y, a, b: log_inc_beta(a, b, y), on_unit, None),
    "beta_lccdf": (lambda y, a, b: log_inc_beta(b, a, 1 - y), on_unit, None),
    "beta_proportion_lpdf": (from_density(lambda y, m, k: beta_density(y, m * k, (1 - m) * k)),
                             [(y, m, k) for y in (0.01, 0.4, 0.93) for m in (0.05, 0.5, 0.8) for k in (0.5, 6.0, 120.0)],
                             lambda y, m, k: st.beta.logpdf(y, m * k, (1 - m) * k)),
    "beta_proportion_lcdf": (lambda y, m, k: log_inc_beta(m * k, (1 - m) * k, y),
                             [(y, m, k) for y in (0.01, 0.4, 0.93) for m in (0.05, 0.5, 0.8) for k in (0.5, 6.0, 120.0)], None),
    "beta_proportion_lccdf": (lambda y, m, k: log_inc_beta((1 - m) * k, m * k, 1 - y),
                              [(y, m, k) for y in (0.01, 0.4, 0.93) for m in (0.05, 0.5, 0.8) for k in (0.5, 6.0, 120.0)], None),
    "uniform_lpdf": (lambda y, a, b: -mp.log(b - a), [(y, a, b) for y in (0.0, 1.5, 2.0) for a in (-3.0, 0.0) for b in (2.0, 7.5)],
                     lambda y, a, b: st.uniform.logpdf(y, a, b - a)),
    "uniform_lcdf": (lambda y, a, b: mp.log((y - a) / (b - a)), [(y, a, b) for y in (0.25, 1.5, 1.99) for a in (-3.0, 0.0) for b in (2.0, 7.5)],
                     lambda y, a, b: st.uniform.logcdf(y, a, b - a)),
    "uniform_lccdf": (lambda y, a, b: mp.log((b - y) / (b - a)), [(y, a, b) for y in (0.25, 1.5, 1.99) for a in (-3.0, 0.0) for b in (2.0, 7.5)],
                      lambda y, a, b: st.uniform.logsf(y, a, b - a)),
    "poisson_lpmf": (from_density(poisson), [(n, m) for n in counts for m in (1e-3, 0.7, 5.0, 45.5, 900.0)], st.poisson.logpmf),
    "poisson_lcdf": (summed(poisson, False), [(n, m) for n in counts for m in (1e-3, 0.7, 5.0, 45.5, 900.0)], None),
    "poisson_lccdf": (summed(poisson, True), [(n, m) for n in counts for m in (1e-3, 0.7, 5.0, 45.5, 900.0)], None),
    "poisson_log_lpmf": (from_density(lambda n, a: poisson(n, mp.exp(a))), [(n, a) for n in counts for a in (-9.0, -0.4, 0.0, 1.2, 6.5)],
                         lambda n, a: st.poisson.logpmf(n, math.exp(a))),
    "neg_binomial_lpmf": (from_density(lambda n, a, b: choose(n + a - 1, n) * (b / (b + 1))**a / (b + 1)**n),
                          [(n, a, b) for n in counts for a in (0.3, 1.0, 25.0) for b in (0.05, 1.0, 4.0)], lambda n, a, b: st.nbinom.logpmf(n, a, b / (b + 1))),
    "neg_binomial_lcdf": (summed(lambda n, a, b: neg_binomial(n, a / b, a), False),
                          [(n, a, b) for n in counts[:5] for a in (0.3, 1.0, 25.0) for b in (0.05, 1.0, 4.0)], lambda n, a, b: st.nbinom.logcdf(n, a, b / (b + 1))),
    "neg_binomial_lccdf": (summed(lambda n, a, b: neg_binomial(n, a / b, a), True),
                           [(n, a, b) for n in counts[:5] for a in (0.3, 1.0, 25.0) for b in (0.5, 1.0, 4.0)], lambda n, a, b: st.nbinom.logsf(n, a, b / (b + 1))),
    "neg_binomial_2_lpmf": (from_density(neg_binomial), [(n, m, p) for n in counts for m in (0.02, 1.0, 33.0) for p in (0.1, 1.0, 50.0, 1e7)],
                            lambda n, m, p: st.nbinom.logpmf(n, p, p / (m + p)) if p < 1e4 else np.nan),
    "neg_binomial_2_lcdf": (summed(neg_binomial, False), [(n, m, p) for n in counts[:5] for m in (0.02, 1.0, 33.0) for p in (0.1, 1.0, 50.0)],
                            lambda n, m, p: st.nbinom.logcdf(n, p, p / (m + p))),
    "neg_binomial_2_lccdf": (summed(neg_binomial, True), [(n, m, p) for n in counts[:5] for m in (0.02, 1.0, 3.0) for p in (0.1, 1.0, 50.0)],
                             lambda n, m, p: st.nbinom.logsf(n, p, p / (m + p))),
    "neg_binomial_2_log_lpmf": (from_density(lambda n, e, p: neg_binomial(n, mp.exp(e), p)),
                                [(n, e, p) for n in counts for e in (-4.0, 0.0, 3.5) for p in (0.1, 1.0, 50.0, 1e7)],
                                lambda n, e, p: st.nbinom.logpmf(n, p, p / (math.exp(e) + p)) if p < 1e4 else np.nan),
    "bernoulli_lpmf": (from_density(lambda n, p: p if n else 1 - p), [(n, p) for n in (0, 1) for p in (1e-9, 0.3, 0.5, 0.999)], st.bernoulli.logpmf),
    "bernoulli_lcdf": (lambda n, p: mp.log(1 - p), [(0, p) for p in (1e-9, 0.3, 0.5, 0.999)], st.bernoulli.logcdf),
    "bernoulli_lccdf": (lambda n, p: mp.log(p), [(0, p) for p in (1e-9, 0.3, 0.5, 0.999)], st.bernoulli.logsf),
    "bernoulli_logit_lpmf": (from_density(lambda n, a: logistic_of(a) if n else logistic_of(-a)), [(n, a) for n in (0, 1) for a in (-700.0, -30.0, -1.0, 0.0, 0.5, 40.0)],
                             None),
    "binomial_lpmf": (from_density(binomial), [(n, N, p) for N in (1, 10, 3000) for n in (0, 1, N // 3, N) for p in (1e-9, 0.2, 0.5, 0.97)], st.binom.logpmf),
    "binomial_lcdf": (summed(binomial, False), [(n, N, p) for N in (2, 10, 300) for n in (0, 1, N // 3, N - 1) for p in (1e-9, 0.2, 0.5, 0.97)], None),
    "binomial_lccdf": (lambda n, N, p: log0(mp.fsum(binomial(k, N, p) for k in range(int(n) + 1, int(N) + 1))),
                       [(n, N, p) for N in (2, 10, 300) for n in (0, 1, N // 3, N - 1) for p in (1e-9, 0.2, 0.5, 0.97)], None),
    "binomial_logit_lpmf": (from_density(lambda n, N, a: binomial(n, N, logistic_of(a))),
                            [(n, N, a) for N in (1, 10, 3000) for n in (0, 1, N // 3, N) for a in (-20.0, -1.0, 0.0, 3.5)],
                            lambda n, N, a: st.binom.logpmf(n, N, 1 / (1 + math.exp(-a)))),
    "beta_binomial_lpmf": (from_density(lambda n, N, a, b: choose(N, n) * mp.beta(n + a, N - n + b) / mp.beta(a, b)),
                           [(n, N, a, b) for N in (1, 10, 3000) for n in (0, 1, N // 3, N) for a in (0.2, 1.0, 40.0) for b in (0.5, 7.0, 1e5)],
                           lambda n, N, a, b: st.betabinom.logpmf(n, N, a, b) if b < 1e4 else np.nan),
}

# At the edges the values are minus infinity outside the support, the limit on its bounds, and NaN for invalid
# parameters.
EDGES = []


def edge(name, *rows):
    EDGES.extend((name, row[:-1], row[-1]) for row in rows)


log = math.log
for name in ("normal", "cauchy", "double_exponential", "logistic", "gumbel"):
    edge(name + "_lpdf", (1.0, 0.0, 0.0, nan), (1.0, 0.0, -1.0, nan), (1.0, inf, 1.0, nan), (1.0, 0.0, inf, nan), (nan, 0.0, 1.0, nan),
         (1.0, nan, 1.0, nan), (1.0, 0.0, nan, nan))
    for tail in ("_lcdf", "_lccdf"):
        edge(name + tail, (1.0, 0.0, 0.0, nan), (1.0, 0.0, -1.0, nan), (1.0, inf, 1.0, nan), (nan, 0.0, 1.0, nan))
    edge(name + "_lcdf", (inf, 0.0, 1.0, 0.0), (-inf, 0.0, 1.0, -inf))
    edge(name + "_lccdf", (inf, 0.0, 1.0, -inf), (-inf, 0.0, 1.0, 0.0))
for name in ("student_t_lpdf", "student_t_lcdf", "student_t_lccdf"):
    edge(name, (1.0, 0.0, 0.0, 1.0, nan), (1.0, -1.0, 0.0, 1.0, nan), (1.0, 3.0, 0.0, 0.0, nan), (1.0, 3.0, inf, 1.0, nan), (1.0, inf, 0.0, 1.0, nan))
for name in ("skew_normal_lcdf", "skew_normal_lccdf"):
    edge(name, (1.0, 0.0, 0.0, 1.0, nan), (1.0, 0.0, 1.0, inf, nan), (1.0, inf, 1.0, 1.0, nan))
edge("skew_normal_lpdf", (1.0, 0.0, 0.0, 1.0, nan), (1.0, 0.0, 1.0, inf, nan), (1.0, 0.0, -1.0, 1.0, nan))
edge("von_mises_lpdf", (1.0, 0.0, -1.0, nan), (1.0, inf, 1.0, nan), (1.0, 0.0, inf, nan))
for name in ("lognormal", "gamma", "inv_gamma", "weibull", "frechet"):
    edge(name + "_lpdf", (-1.0, 1.0, 1.0, -inf), (2.0, 1.0, 0.0, nan), (2.0, 1.0, -3.0, nan), (2.0, inf, 1.0, nan), (nan, 1.0, 1.0, nan))
    edge(name + "_lcdf", (-1.0, 1.0, 1.0, -inf), (0.0, 1.0, 1.0, -inf), (2.0, 1.0, 0.0, nan), (2.0, inf, 1.0, nan), (nan, 1.0, 1.0, nan))
    edge(name + "_lccdf", (-1.0, 1.0, 1.0, 0.0), (0.0, 1.0, 1.0, 0.0), (2.0, 1.0, 0.0, nan), (2.0, inf, 1.0, nan))
for name in ("gamma", "inv_gamma", "weibull", "frechet"):
    edge(name + "_lpdf", (2.0, 0.0, 1.0, nan), (2.0, -1.0, 1.0, nan))
edge("lognormal_lpdf", (0.0, 1.0, 1.0, -inf))
edge("inv_gamma_lpdf", (0.0, 1.0, 1.0, -inf))
edge("frechet_lpdf", (0.0, 1.0, 1.0, -inf))
edge("gamma_lpdf", (0.0, 1.0, 2.5, log(2.5)), (0.0, 2.0, 1.0, -inf), (0.0, 0.5, 1.0, inf))
edge("weibull_lpdf", (0.0, 1.0, 2.5, -log(2.5)), (0.0, 2.0, 1.0, -inf), (0.0, 0.5, 1.0, inf))
edge("exponential_lpdf", (-1e-9, 1.0, -inf), (0.0, 2.5, log(2.5)), (1.0, 0.0, nan), (1.0, -2.0, nan), (1.0, inf, nan))
edge("exponential_lcdf", (-1.0, 1.0, -inf), (0.0, 1.0, -inf), (1.0, -1.0, nan))
edge("exponential_lccdf", (-1.0, 1.0, 0.0), (0.0, 1.0, 0.0), (1.0, -1.0, nan))
edge("chi_square_lpdf", (-1.0, 3.0, -inf), (0.0, 2.0, -log(2)), (0.0, 3.0, -inf), (1.0, 0.0, nan), (1.0, -1.0, nan))
edge("chi_square_lcdf", (0.0, 3.0, -inf), (1.0, -1.0, nan))
edge("chi_square_lccdf", (0.0, 3.0, 0.0), (1.0, -1.0, nan))
edge("rayleigh_lpdf", (-1.0, 1.0, -inf), (0.0, 1.0, -inf), (1.0, 0.0, nan), (1.0, -1.0, nan))
edge("rayleigh_lcdf", (0.0, 1.0, -inf), (1.0, -1.0, nan))
edge("rayleigh_lccdf", (0.0, 1.0, 0.0), (1.0, -1.0, nan))
edge("pareto_lpdf", (1.0, 2.0, 3.0, -inf), (2.0, 2.0, 3.0, log(1.5)), (1.0, 0.0, 3.0, nan), (1.0, -1.0, 3.0, nan), (3.0, 2.0, 0.0, nan))
edge("pareto_lcdf", (1.0, 2.0, 3.0, -inf), (2.0, 2.0, 3.0, -inf), (1.0, -1.0, 3.0, nan), (3.0, 2.0, -1.0, nan))
edge("pareto_lccdf", (1.0, 2.0, 3.0, 0.0), (2.0, 2.0, 3.0, 0.0), (1.0, -1.0, 3.0, nan), (3.0, 2.0, -1.0, nan))
edge("beta_lpdf", (-0.1, 2.0, 3.0, -inf), (1.1, 2.0, 3.0, -inf), (0.0, 1.0, 3.0, log(3)), (1.0, 3.0, 1.0, log(3)), (0.0, 2.0, 3.0, -inf),
     (1.0, 2.0, 3.0, -inf), (0.0, 0.5, 3.0, inf), (0.5, 0.0, 1.0, nan), (0.5, 1.0, -1.0, nan), (0.5, inf, 1.0, nan), (0.0, 1.0, 1.0, 0.0))
edge("beta_lcdf", (-0.1, 2.0, 3.0, -inf), (0.0, 2.0, 3.0, -inf), (1.0, 2.0, 3.0, 0.0), (1.1, 2.0, 3.0, 0.0), (0.5, 0.0, 1.0, nan))
edge("beta_lccdf", (-0.1, 2.0, 3.0, 0.0), (0.0, 2.0, 3.0, 0.0), (1.0, 2.0, 3.0, -inf), (1.1, 2.0, 3.0, -inf), (0.5, 0.0, 1.0, nan))
edge("beta_proportion_lpdf", (0.5, 0.0, 1.0, nan), (0.5, 1.0, 1.0, nan), (0.5, 0.5, -1.0, nan), (-0.5, 0.5, 1.0, -inf))
edge("uniform_lpdf", (-1e-9, 0.0, 2.0, -inf), (2.0000001, 0.0, 2.0, -inf), (0.0, 0.0, 2.0, -log(2)), (2.0, 0.0, 2.0, -log(2)), (1.0, 2.0, 0.0, nan),
     (1.0, 1.0, 1.0, nan), (nan, 0.0, 1.0, nan), (0.5, nan, 1.0, nan), (0.5, 0.0, nan, nan), (0.5, 0.0, inf, nan), (5.0, 2.0, 1.0, nan))
edge("uniform_lcdf", (-1.0, 0.0, 2.0, -inf), (3.0, 0.0, 2.0, 0.0), (0.0, 0.0, 2.0, -inf), (2.0, 0.0, 2.0, 0.0), (1.0, 2.0, 0.0, nan))
edge("uniform_lccdf", (-1.0, 0.0, 2.0, 0.0), (3.0, 0.0, 2.0, -inf), (0.0, 0.0, 2.0, 0.0), (2.0, 0.0, 2.0, -inf), (1.0, 2.0, 0.0, nan))
edge("poisson_lpmf", (-1, 2.0, -inf), (0, 0.0, 0.0), (1, 0.0, -inf), (1, -1.0, nan), (1, inf, nan), (1, nan, nan))
edge("poisson_lcdf", (-1, 2.0, -inf), (0, 0.0, 0.0), (1, -1.0, nan))
edge("poisson_lccdf", (-1, 2.0, 0.0), (0, 0.0, -inf), (1, -1.0, nan))
edge("poisson_log_lpmf", (-1, 2.0, -inf), (0, 0.0, -1.0), (1, nan, nan))
edge("neg_binomial_lpmf", (-1, 2.0, 1.0, -inf), (1, 0.0, 1.0, nan), (1, 1.0, 0.0, nan), (1, 1.0, -1.0, nan), (1, -1.0, 2.0, nan))
edge("neg_binomial_2_lpmf", (-1, 2.0, 1.0, -inf), (1, 0.0, 1.0, nan), (1, 1.0, 0.0, nan), (1, 1.0, -1.0, nan), (1, -1.0, 2.0, nan))
edge("neg_binomial_2_log_lpmf", (-1, 2.0, 1.0, -inf), (1, 0.0, 0.0, nan), (1, 0.0, -1.0, nan), (1, inf, 2.0, nan))
for name in ("neg_binomial", "neg_binomial_2"):
    edge(name + "_lcdf", (-1, 2.0, 1.0, -inf), (1, 0.0, 1.0, nan), (1, 1.0, -1.0, nan), (1, -1.0, 2.0, nan))
    edge(name + "_lccdf", (-1, 2.0, 1.0, 0.0), (1, 0.0, 1.0, nan), (1, 1.0, -1.0, nan), (1, -1.0, 2.0, nan))
edge("bernoulli_lpmf", (0, 0.0, 0.0), (1, 1.0, 0.0), (1, 0.0, -inf), (0, 1.0, -inf), (2, 0.5, -inf), (-1, 0.5, -inf), (1, 1.1, nan), (0, -0.1, nan), (1, nan, nan))
edge("bernoulli_lcdf", (-1, 0.5, -inf), (1, 0.5, 0.0), (0, 1.0, -inf), (0, 1.1, nan))
edge("bernoulli_lccdf", (-1, 0.5, 0.0), (1, 0.5, -inf), (0, 0.0, -inf), (0, 1.1, nan))
edge("bernoulli_logit_lpmf", (2, 0.5, -inf), (-1, 0.5, -inf), (1, nan, nan), (1, inf, 0.0), (0, inf, -inf))
edge("binomial_lpmf", (-1, 3, 0.5, -inf), (4, 3, 0.5, -inf), (0, 3, 0.0, 0.0), (3, 3, 1.0, 0.0), (1, 3, 0.0, -inf), (2, 3, 1.0, -inf), (0, 0, 0.5, 0.0),
     (0, 0, 0.0, 0.0), (1, 3, 1.1, nan), (1, 3, -0.1, nan), (0, -1, 0.5, nan), (1, 3, nan, nan))
edge("binomial_lcdf", (-1, 3, 0.5, -inf), (3, 3, 0.5, 0.0), (4, 3, 0.5, 0.0), (1, 3, 0.0, 0.0), (1, 3, 1.0, -inf), (1, 3, 1.1, nan))
edge("binomial_lccdf", (-1, 3, 0.5, 0.0), (3, 3, 0.5, -inf), (1, 3, 0.0, -inf), (1, 3, 1.0, 0.0), (1, 3, 1.1, nan))
edge("binomial_logit_lpmf", (-1, 3, 0.5, -inf), (4, 3, 0.5, -inf), (0, 0, 0.5, 0.0), (1, 3, nan, nan), (0, -1, 0.5, nan))
edge("beta_binomial_lpmf", (-1, 3, 1.0, 1.0, -inf), (4, 3, 1.0, 1.0, -inf), (0, 0, 1.0, 1.0, 0.0), (1, 3, 0.0, 1.0, nan), (1, 3, 1.0, -1.0, nan), (0, -1, 1.0, 1.0, nan))


def condition(function, arguments):
    total = mpf(0)
    for i, x in enumerate(arguments):
        if x == 0 or isinstance(x, int):
            continue
        step = abs(mpf(x)) * mpf(10)**-20
        moved = [[mpf(a) for a in arguments] for _ in range(2)]
        moved[0][i] += step
        moved[1][i] -= step
        change = (function(*moved[0]) - function(*moved[1])) / 2
        total += abs(change) * mpf(10)**20
    return total


def main():
    wanted = sys.argv[1:]
    for name, (function, rows, scipys) in CASES.items():
        for row in rows if not wanted or name in wanted else []:
            value = function(*map(mpf, row))
            if not mp.isfinite(value) or value == 0 or abs(value) > 1e15:
                continue
            if scipys is not None:
                other = float(scipys(*row))
                # SciPy's own tails lose digits or underflow; any other number of SciPy must agree with the value.
                limit = 1e-7 * max(1, abs(value))
                if np.isfinite(other) and abs(other - value) > limit and not (value < -700 or abs(other) < 1e-12):
                    sys.exit(f"{name}{row}: {mp.nstr(value, 17)}, SciPy: {other!r}")
            try:
                c = condition(function, row)
            except (ValueError, ZeroDivisionError, TypeError):
                c = mpf(1)  # a step would leave the domain
            print(name, *(x if isinstance(x, int) else x.hex() for x in row), mp.nstr(value, 20), mp.nstr(c, 3) if mp.isfinite(c) and c else "1")
    for name, arguments, value in EDGES:
        print(name, *(x if isinstance(x, int) else number(x) for x in arguments), number(value), 0)


if __name__ == "__main__":
    main()
