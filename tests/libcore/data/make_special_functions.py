"""Values of special functions with 50 digits, for special_functions_test.cpp:

    python3 make_special_functions.py > special_functions.txt

With names as arguments it makes only the values of those functions. Takes some minutes. Needs mpmath (made with 1.4.1). A line is: function, arguments, value, condition number. The condition number is the
sum over the arguments of |x f'(x) / f(x)|: by how much a relative change of them changes the value; 0 where an edge or
a special value is meant, which must be exact."""
import math
import random
import sys

from mpmath import mp, mpf, inf, nan

mp.dps = 60
draw = random.Random(20261126)


def log_uniform(low, high, n):
    # The exponentials themselves are not used, because their logarithms round too easily.
    return [min(max(low, draw.uniform(0.9, 1.1) * math.exp(draw.uniform(math.log(low), math.log(high)))), high) for _ in range(n)]


def uniform(low, high, n):
    return [draw.uniform(low, high) for _ in range(n)]


def both_signs(values):
    return [s * v for v in values for s in (1, -1)]


TINY = [5e-324, 3e-310, 2.3e-308, 1e-300, 1e-200, 1e-100, 1e-30, 1e-17, 1e-16, 1e-9]
HUGE = [1e9, 1e16, 1e30, 1e100, 1e155, 1e300, 1.7e308]


def lower_gamma(a, x):
    """Computes P by its power series of positive terms, DLMF 8.11.4."""
    term = total = mpf(1)
    n = 0
    while term > total * mpf(10) ** -62:
        n += 1
        term *= x / (a + n)
        total += term
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * total


def upper_gamma(a, x):
    """Computes Q by its continued fraction, DLMF 8.9.2, from its end. The number of terms doubles until the value
    stays the same."""
    before, n = None, 50
    while True:
        value = mpf(0)
        for k in range(n, 0, -1):
            value = k * (a - k) / (x + 2 * k + 1 - a + value)
        value = 1 / (x + 1 - a + value)
        if before is not None and abs(value - before) < abs(value) * mpf(10) ** -50:
            return mp.exp(a * mp.log(x) - x - mp.loggamma(a)) * value
        before, n = value, 2 * n


def log_tails_of_gamma(a, x):
    with mp.workdps(80 + max(0, int(mp.log10(a + x + 1))) + (int(-mp.log10(a)) if a < 1 else 0)):
        if x < a + 1 or x < 2:
            p = lower_gamma(a, x)
            return mp.log(p), mp.log1p(-p)
        q = upper_gamma(a, x)
        return mp.log1p(-q), mp.log(q)


def complement_of_inc_beta(a, b, x):
    """Computes 1 - I_y(b, a) with y = 1 - x by DLMF 8.17.7, an alternating series, for x so near 1 that the other
    series takes too long."""
    with mp.workdps(mp.dps + 300 + int(a * (1 - x))):
        y = 1 - x
        term, total, n = mpf(1), 1 / b, 0
        while abs(term) > mpf(10) ** -mp.dps:
            n += 1
            term *= (n - a) / n * y
            total += term / (b + n)
        return 1 - total * mp.exp(b * mp.log(y) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b))


def log_inc_beta(a, b, x):
    """Computes the logarithm by the power series of positive terms, DLMF 8.17.8, below the mean, and by its
    complement above."""
    with mp.workdps(240 + max(0, int(mp.log10(a + b + 1))) + int(max(0, -mp.log10(min(a, b, 1))))):
        a, b, x = mpf(a), mpf(b), mpf(x)
        mean = (a + 1) / (a + b + 2)
        swapped = x > 0.5 and x > mean or x > max(0.005, 1.5 * mean)
        if swapped:
            a, b, x = b, a, 1 - x
        if x > 0.9 and a * (1 - x) < 2000 and a > 50:
            value = complement_of_inc_beta(a, b, x)
            return mp.log(1 - value) if swapped else mp.log(value)
        term = total = mpf(1)
        n = 0
        while term > total * mpf(10) ** -75:
            term *= (a + b + n) / (a + 1 + n) * x
            total += term
            n += 1
        log_power = a * mp.log(x) + b * mp.log1p(-x) - mp.loggamma(a + 1) - mp.loggamma(b) + mp.loggamma(a + b)
        value = log_power + mp.log(total)
        return mp.log1p(-mp.exp(value)) if swapped else value


def log_student_t_tail(t, nu):
    value = log_inc_beta(nu / 2, mpf(1) / 2, nu / (nu + t * t)) - mp.log(2)
    return mp.log1p(-mp.exp(value)) if t < 0 else value


def log_skew_normal(z, alpha):
    """Computes the logarithm by quadrature of the smaller tail."""
    def density(t):
        return 2 * mp.npdf(t) * mp.erfc(-alpha * t / mp.sqrt(2)) / 2

    with mp.workdps(40):
        w = 1 / mp.sqrt(1 + alpha * alpha)
        lower = z < mp.sqrt(2 / mp.pi) * alpha * w
        near = w / (1 + abs(z) / w) if (alpha > 0) == lower and z * alpha < 0 else min(w, 1 / (1 + abs(z)))
        sign = -1 if lower else 1
        points = {z + sign * near * k for k in (0, 1, 3, 6, 10, 16, 25, 40, 60, 90, 130, 180, 250)}
        points |= {x for x in [k * w for k in (-16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16)] + list(range(-20, 21)) + [k / mpf(4) for k in range(-20, 21)]
                   if sign * (x - z) > 0}
        scale = density(z)  # quad's bounds are absolute
        value = mp.log(scale) + mp.log(mp.quad(lambda t: density(t) / scale, sorted(points)))
        return value if lower else mp.log1p(-mp.exp(value))


def log_bessel(v, z):
    if v + z < 500 or v < 1e-3 * z:
        return mp.log(mp.besseli(v, z))
    term = total = mpf(1)
    k = 0
    while term > total * mpf(10) ** -62:
        k += 1
        term *= z * z / (4 * k * (v + k))
        total += term
    return v * mp.log(z / 2) - mp.loggamma(v + 1) + mp.log(total)


def log_mix(theta, a, b):
    high = max(a, b)
    return high + mp.log(theta * mp.exp(a - high) + (1 - theta) * mp.exp(b - high))


def log_sum_exp(a, b):
    return max(a, b) + mp.log1p(mp.exp(min(a, b) - max(a, b)))


def log_gamma(x):
    return mp.re(mp.loggamma(x))


def log_beta(a, b):
    with mp.workdps(60 + max(0, int(mp.log10(max(a, b, 1)))) + (int(-mp.log10(min(a, b, 1))) if b < 1e300 else 0)):
        return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def log_gamma_difference(x, a):
    with mp.workdps(70 + max(0, int(mp.log10(max(x, a, 1)))) + max(0, int(-mp.log10(abs(a) + 1e-300)))):
        return mp.loggamma(x + a) - mp.loggamma(x)


def log_choose(n, k):
    if k == 0 or k == n:
        return mpf(0)
    with mp.workdps(70 + max(0, int(mp.log10(n + 1)))):
        return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def log_phi(z):
    return mp.log1p(-mp.erfc(z / mp.sqrt(2)) / 2) if z > 0 else mp.log(mp.erfc(-z / mp.sqrt(2)) / 2)


def inverse_phi(p):
    low = p if p < 0.5 else 1 - p
    if low == 0.5:
        return mpf(0)
    target = mp.log(low)
    z = -mp.sqrt(-2 * target) if low < 0.01 else mp.sqrt(2) * mp.erfinv(2 * low - 1)
    for _ in range(200):
        value = log_phi(z)
        step = (value - target) / mp.exp(-z * z / 2 - value) * mp.sqrt(2 * mp.pi)
        z -= step
        if abs(step) < abs(z) * mpf(10) ** -50:
            break
    return z if p < 0.5 else -z


def exact(function):
    """Computes with more digits, for differences of large or nearly equal numbers."""
    def wrapped(*arguments):
        with mp.workdps(700):
            return +function(*arguments)
    return wrapped


def pairs(first, second):
    return list(zip(first, second))


unit_edges = [5e-324, 1e-310, 1e-300, 1e-100, 1e-17, 1e-9, 0.1, 0.25, 0.4999999, 0.5, 0.5000001, 0.75, 0.9, 1 - 1e-9,
              1 - 2**-53]
everywhere = both_signs(TINY + HUGE + log_uniform(1e-6, 1e3, 120) + log_uniform(1e-300, 1e300, 40))
positive = [abs(x) for x in everywhere[::2]] + log_uniform(1e-3, 1e3, 100)
exponents = both_signs(TINY + log_uniform(1e-6, 700, 150) + [0.3465, 0.5, 0.6931, 0.6932, 37, 40, 700, 708])
angles = both_signs(TINY + log_uniform(1e-8, 1e15, 150) + uniform(0, 20, 60) +
                    [22.0, 355.0, 103993.0, 833719.0, 80143857.0, 6167950454.0, 1783366216531.0, 8958937768937.0, 428224593349304.0] +
                    [k * math.pi / 2 for k in (1, 2, 3, 4, 5, 100, 12345, 10**6, 10**9, 10**14)] + [2.0**50, 52707178.0])
near_one = [1 + s * 2.0**-k for k in range(1, 53, 4) for s in (1, -1)]

# name: (function, list of arguments)
CASES = {
    "log": (mp.log, positive + near_one),
    "exp": (mp.exp, exponents),
    "log1p": (mp.log1p, [x for x in everywhere if x > -1] + [-1 + 2.0**-k for k in range(1, 53, 3)]),
    "expm1": (mp.expm1, exponents + [-1e3, -1e300]),
    "sqrt": (mp.sqrt, positive),
    "square": (lambda x: x * x, both_signs(log_uniform(1e-150, 1e150, 40))),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), everywhere + [8.0, 27.0, 1e-321] + [1 + k / 17.3 for k in range(121)]),
    "exp2": (lambda x: mpf(2)**x, both_signs(TINY + uniform(0, 1021, 100) + [0.5, 1, 1021, 0.49999])),
    "log2": (lambda x: mp.log(x) / mp.log(2), positive + near_one),
    "log10": (lambda x: mp.log(x) / mp.log(10), positive + near_one),
    "pow": (mp.power, pairs(log_uniform(1e-300, 1e300, 150), uniform(-1, 1, 150)) +
            pairs(log_uniform(0.5, 2, 150), uniform(-1000, 1000, 150)) +
            [(1 + 2.0**-k, 2.0**k * t) for k in range(3, 52, 4) for t in (1, -1, 300, -700, 0.37)] +
            [(x, t / math.log(x)) for x in (0.9701234, 0.9811111, 0.9931234, 1.0079999, 1.0154321, 1.0298765, 1.0301) for t in (690.0, -695.5, 77.0)] +
            [(-x, float(k)) for x in log_uniform(0.1, 10, 20) for k in (-3, 2, 7)] +
            [(5e-324, 0.5), (1e-310, -0.9), (1.7e308, 0.99), (1.7e308, -0.5), (10.0, 308.0), (2.0, 1023.0), (2.0, -1022.0)]),
    "log1m": (lambda x: mp.log1p(-x), [-x for x in everywhere if x > -1] + [1 - 2.0**-k for k in range(1, 53, 3)]),
    "log1p_exp": (lambda x: mp.log1p(mp.exp(x)) if x < 1e4 else x, exponents + HUGE),
    "log1m_exp": (exact(lambda x: mp.log(-mp.expm1(x))), [x for x in exponents if x < 0]),
    "inv_logit": (lambda x: 1 / (1 + mp.exp(-x)), exponents),
    "logit": (exact(lambda x: mp.log(x) - mp.log(1 - x)), unit_edges + uniform(0, 1, 100) + log_uniform(1e-300, 1, 50)),
    "log_inv_logit": (lambda x: -mp.log1p(mp.exp(-x)) if x > -1e4 else x, exponents + [-x for x in HUGE]),
    "log1m_inv_logit": (lambda x: -mp.log1p(mp.exp(x)) if x < 1e4 else -x, exponents + HUGE),
    "log_sum_exp": (log_sum_exp, pairs(uniform(-50, 50, 60), uniform(-50, 50, 60)) + pairs(uniform(-5, 5, 60), uniform(-5, 5, 60)) +
                    [(1e300, 1e300), (-1e300, -1e300), (-1e3, -1001.0), (1e4, -1e4), (3.0, 3.0), (-700.0, -745.0)]),
    "log_diff_exp": (exact(lambda a, b: a + mp.log(-mp.expm1(b - a))), [
        (max(p), min(p)) for p in pairs(uniform(-50, 50, 100), uniform(-50, 50, 100))] +
        [(x, x - d) for x in (-700.0, -1.0, 0.0, 2.5) for d in (1e-9, 1e-3, 0.5, 0.7, 50.0, 800.0)]),
    "log_mix": (log_mix, [(t, a, b) for t in unit_edges + uniform(0, 1, 20)
                          for a, b in ((0.3, -2.0), (-800.0, -801.5), (1.0, 900.0), (-1e6, -5.0))]),
    "multiply_log": (lambda a, b: a * mp.log(b), pairs(uniform(-10, 10, 40), log_uniform(1e-300, 1e300, 40))),
    "multiply_log1m": (lambda a, b: a * mp.log1p(-b), pairs(uniform(-10, 10, 40), uniform(0, 1, 40)) +
                       [(3.0, 1e-20), (2.0, 1 - 2**-53)]),
    "sinh": (mp.sinh, exponents), "cosh": (mp.cosh, exponents), "tanh": (mp.tanh, exponents),
    "sin": (mp.sin, angles), "cos": (mp.cos, angles), "tan": (mp.tan, angles),
    "atan": (mp.atan, everywhere + [0.41421, 0.41422, 1.0, 2.41421, 2.41422]),
    "asin": (mp.asin, both_signs(unit_edges + uniform(0, 1, 80))),
    "acos": (mp.acos, both_signs(unit_edges + uniform(0, 1, 80))),
    "atan2": (mp.atan2, pairs(both_signs(log_uniform(1e-3, 1e3, 60)), uniform(-10, 10, 120)) +
              [(1e-300, 1e300 * s) for s in (-1, 1)] + [(1e300, 1e-300), (-1e300, 1e-300), (3e-320, 2e-320), (1e308, -1.5e308)]),
    "lgamma": (log_gamma, positive + near_one + [2 + s * 2.0**-k for k in range(1, 51, 4) for s in (1, -1)] +
               uniform(0, 20, 150) + [1.0001234567890123, 0.9991234567890123, 1.0000001234567891, 0.9999998765432101, 15.999999, 16.0, 2.5, 1.5, 0.5, 2.5000001, 170.0, 2.5e305] +
               [-x for x in uniform(0, 30, 60) + log_uniform(1e-300, 0.4, 20)] + [-1e9 - 0.5, -12345678.25]),
    "digamma": (lambda x: mp.digamma(x), positive + uniform(0, 12, 100) + [1.4616321449683622, 1.4616321449683624] +
                [-x for x in uniform(0, 30, 60) + log_uniform(1e-300, 0.4, 20)]),
    "trigamma": (lambda x: mp.psi(1, x), [x for x in positive if 1e-150 < x < 1e150] + uniform(0, 12, 100) +
                 [-x for x in uniform(0, 30, 60) + log_uniform(1e-150, 0.4, 20)]),
    "lbeta": (log_beta, pairs(log_uniform(1e-3, 1e3, 150), log_uniform(1e-3, 1e3, 150)) +
              pairs(log_uniform(1e-250, 1e250, 40), log_uniform(1e-250, 1e250, 40)) + pairs(uniform(0, 3, 80), uniform(0, 3, 80)) +
              [(x, x) for x in log_uniform(1e-10, 1e16, 40)] + [(16.0, 16.0), (15.999, 1e10), (1.0, 1 + 2**-52), (2.0, 3.0)]),
    "lchoose": (log_choose, [(float(n), float(k)) for n in (1, 2, 5, 40, 1000, 10**6, 2**40)
                             for k in sorted({1, 2, n // 7, n // 2, n - 1}) if 0 < k < n] +
                [(n, n * t) for n in log_uniform(1, 1e9, 60) for t in (0.5, 0.01, 1e-9, 0.99)]),
    "log_gamma_difference": (log_gamma_difference,
        pairs(log_uniform(1e-3, 1e6, 150), log_uniform(1e-3, 1e6, 150)) + pairs(log_uniform(0.01, 40, 100), log_uniform(1e-20, 10, 100)) +
        [(x, -x * t) for x in log_uniform(1e-3, 1e6, 40) for t in (0.5, 1e-6, 0.999)] +
        [(1e-310, 1.0), (5e-324, 1e-3), (1e15, 3.0), (1e250, 1e250), (3.0, 1e200), (1e200, 3.0), (1e-200, 1e-200), (15.9, 0.99)]),
    "digamma_difference": (lambda x, a: mp.digamma(x + a) - mp.digamma(x),
        pairs(log_uniform(1e-3, 1e6, 150), log_uniform(1e-3, 1e6, 150)) + pairs(log_uniform(0.01, 40, 100), log_uniform(1e-20, 10, 100)) +
        [(x, -x * t) for x in log_uniform(1e-3, 1e6, 40) for t in (0.5, 1e-6, 0.999)] +
        [(9.99, 1e-9), (10.0, 1e-9), (1e15, 3.0), (1e250, 1e250), (3.0, 1e200), (1e200, 3.0)]),
    "log_gamma_ratio": (log_gamma_difference, pairs(log_uniform(1e-3, 1e6, 60), log_uniform(0.5, 1e6, 60))),
    "erf": (mp.erf, both_signs(TINY + log_uniform(1e-6, 6, 120) + [0.999999, 1.0, 30.0, 1e300])),
    "erfc": (mp.erfc, both_signs(TINY + log_uniform(1e-6, 26.5, 150) + [0.4999, 0.5, 0.99999, 1.0])),
    "Phi": (lambda z: mp.erfc(-z / mp.sqrt(2)) / 2, both_signs(TINY + log_uniform(1e-6, 37.4, 150) + [0.5, 0.4999])),
    "std_normal_lcdf": (log_phi, both_signs(TINY + log_uniform(1e-6, 37, 150)) + [-x for x in log_uniform(37, 1e100, 30)]),
    "std_normal_lccdf": (lambda z: log_phi(-z), both_signs(TINY + log_uniform(1e-6, 37, 50)) + log_uniform(37, 1e100, 10)),
    "inv_Phi": (inverse_phi, unit_edges + uniform(0, 1, 120) + log_uniform(1e-307, 1, 60) + [0.3, 0.29999, 0.7, 0.70001]),
    "log_modified_bessel_first_kind": (log_bessel,
        [(0.0, z) for z in log_uniform(1e-8, 1e6, 120) + [1e-150, 7.999, 8.0, 8.001, 1e9, 1e15]] +
        [(v, z) for v in (1e-12, 0.5, 1.0, 2.3, 10.0, 24.99, 25.0, 30.0, 100.0, 1e3, 1e4)
         for z in log_uniform(1e-6, 1e4, 20) + [1e-200, 8.0, 35.0, 2.0 * v + 1e-3]]),
    "log_modified_bessel_first_kind_scaled": (lambda v, z: log_bessel(v, z) - z,
        [(0.0, z) for z in log_uniform(1e-8, 1e9, 80) + [7.999, 8.0, 8.001]] +
        [(v, z) for v in (0.5, 1.0, 24.99, 30.0, 1e3) for z in log_uniform(1e-6, 1e4, 10)]),
    "modified_bessel_ratio": (lambda z: mp.besseli(1, z) / mp.besseli(0, z),
                              both_signs(log_uniform(1e-8, 1e6, 60) + uniform(0, 20, 40) + [1e-300, 7.999, 8.0, 8.001])),
}
SHAPES = [1e-12, 1e-3, 0.1, 0.5, 0.99, 1.0, 2.5, 7.0, 19.9, 20.0, 21.0, 55.5, 300.0, 1e4, 1e6]
gamma_arguments = [(a, a * t) for a in SHAPES for t in (1e-9, 0.01, 0.29, 0.3, 0.31, 0.7, 0.97, 0.999, 1.0, 1.0000001, 1.01,
                                                       1.2, 1.9, 2.35, 2.37, 3.0, 10.0)]
gamma_arguments += [(a, x) for a in SHAPES[:10] for x in (1e-300, 1e-5, 0.3, 1.0, 1.49, 1.5, 1.51, 3.0, 20.0, 700.0)]
gamma_arguments += [(1e6, 1e6 + s * d) for s in (1, -1) for d in (1.0, 1e3, 3e3, 3e4)] + [(1e9, 1e9 + 4e4), (1e9, 1e9 - 1e5)]
CASES["log_gamma_p"] = (lambda a, x: log_tails_of_gamma(a, x)[0], gamma_arguments)
CASES["log_gamma_q"] = (lambda a, x: log_tails_of_gamma(a, x)[1], gamma_arguments)
beta_arguments = []
for a in (1e-12, 1e-3, 0.4, 1.0, 2.0, 9.3, 17.0, 99.0, 101.0, 2e3, 1e6):
    for b in (1e-12, 1e-3, 0.5, 1.0, 3.5, 15.0, 40.0, 100.0, 150.0, 5e4, 2e6):
        mean = (a + 1) / (a + b + 2)
        spread = math.sqrt(mean * (1 - mean) / (a + b + 3))
        for x in (mean, mean + spread, mean - spread, mean + 6 * spread, mean - 6 * spread, mean / 3, 0.01, 0.6, 0.97):
            if 1e-9 < x < 1 - 1e-9:
                beta_arguments.append((a, b, x))
beta_arguments += [(3e7, 5e7, 0.375), (3e7, 5e7, 0.3751), (5e7, 3e7, 0.6245), (2.0, 1e9, 1e-9), (2.0, 1e9, 1e-8), (0.5, 1e9, 1e-9), (0.5, 3.0, 1e-300), (3.0, 0.5, 1 - 2**-53)]
CASES["log_inc_beta"] = (log_inc_beta, beta_arguments)

CASES["log_inc_beta_complement"] = (lambda a, b, x: log_inc_beta(b, a, 1 - mpf(x)), [
    (a, b, x) for a, b, x in beta_arguments[::9] + [(2.0, 1e9, 1e-9), (0.5, 3.0, 1e-300), (1e-3, 1e9, 1e-9)]])
CASES["log_student_t_tail"] = (log_student_t_tail, [
    (s * t, nu) for nu in (1e-3, 0.5, 1.0, 2.0, 4.5, 30.0, 199.0, 1e4, 1e6, 1e10)
    for t in (1e-12, 1e-4, 0.3, 0.99, 1.01, 2.5, 7.0, 37.0, 1e3, 1e9, 1e200) for s in (1, -1)
    if t < 50 or nu < 200])

CASES["log_skew_normal_cdf"] = (log_skew_normal, [
    (z, a) for a in (0.0, 0.3, 1.0, 3.0, -0.7, -8.0, 25.0, 1e4) for z in (-30.0, -5.0, -0.05, 1e-6, 0.3, 0.81, 1.7, 6.0) if a * z > -1e4])

# Cases with an exact or special value: (name, arguments, value).
EDGES = []


def edge(name, *rows):
    EDGES.extend((name, row[:-1], row[-1]) for row in rows)


edge("log", (0, -inf), (-1, nan), (inf, inf), (1, 0))
edge("exp", (0, 1), (-inf, 0), (inf, inf), (710, inf), (-709, 0))
edge("log1p", (-1, -inf), (-1.5, nan), (inf, inf), (0, 0))
edge("expm1", (-inf, -1), (inf, inf), (0, 0), (710, inf))
edge("sqrt", (-1, nan), (0, 0), (inf, inf), (4, 2))
edge("square", (inf, inf), (-3, 9))
edge("cbrt", (0, 0), (inf, inf), (-inf, -inf))
edge("exp2", (0, 1), (1024, inf), (-1023, 0), (-1022, 2.0**-1022), (10, 1024), (-inf, 0), (inf, inf))
edge("log2", (0, -inf), (-1, nan), (inf, inf), (1, 0), (8, 3), (2.0**-1074, -1074), (2.0**1023, 1023))
edge("log10", (0, -inf), (-1, nan), (inf, inf), (1, 0), *[(10.0**k, k) for k in range(1, 23)])
edge("pow", (nan, 0, 1), (1, nan, 1), (nan, 1, nan), (2, nan, nan), (0, 3, 0), (0, -3, inf), (0, -2, inf), (-0.0, -3, -inf),
     (-8, 1 / 3, nan), (-2, 3, -8), (-2, 2, 4), (-1, inf, 1), (-1, -inf, 1), (2, inf, inf), (2, -inf, 0), (0.5, inf, 0),
     (0.5, -inf, inf), (inf, 2, inf), (inf, -2, 0), (-inf, 3, -inf), (-inf, 2, inf), (-inf, -3, 0), (2, 1024, inf),
     (2, -1080, 0), (1.5, 1e300, inf), (1.5, -1e300, 0), (-2, 1e300, inf), (0, 0, 1), (inf, 0, 1), (3, 1, 3), (-inf, 0.5, inf))
edge("log1m", (1, -inf), (1.5, nan), (0, 0), (-inf, inf))
edge("log1p_exp", (-inf, 0), (inf, inf), (-1000, 0))
edge("log1m_exp", (0, -inf), (1e-300, nan), (inf, nan), (-inf, 0))
edge("inv_logit", (-inf, 0), (inf, 1), (0, 0.5), (1000, 1))
edge("logit", (0, -inf), (1, inf), (0.5, 0), (-1e-9, nan), (1.0000001, nan))
edge("log_inv_logit", (-inf, -inf), (inf, 0))
edge("log1m_inv_logit", (-inf, 0), (inf, -inf))
edge("log_sum_exp", (-inf, -inf, -inf), (-inf, 3, 3), (3, -inf, 3), (inf, 3, inf), (inf, inf, inf), (-inf, inf, inf),
     (nan, inf, nan), (inf, nan, nan), (1, nan, nan), (0, 1e9, 1e9))
edge("log_diff_exp", (1, 2, nan), (1, 1, -inf), (-inf, -inf, -inf), (3, -inf, 3), (inf, inf, nan), (inf, 3, inf), (nan, 1, nan))
edge("log_mix", (0, -3, 7, 7), (1, -3, 7, -3), (0, -inf, 7, 7), (1, 5, -inf, 5), (0.5, -inf, -inf, -inf), (-0.1, 1, 2, nan),
     (1.1, 1, 2, nan), (nan, 1, 2, nan), (0.5, nan, 2, nan), (0, nan, 2, nan), (1, 2, nan, nan), (0.5, 3, 3, 3))
edge("multiply_log", (0, 0, 0), (1, 0, -inf), (2, 1, 0), (0, 5, 0), (0, nan, nan), (1, -1, nan))
edge("multiply_log1m", (0, 1, 0), (1, 1, -inf), (2, 0, 0), (0, nan, nan), (1, 2, nan))
edge("sinh", (0, 0), (inf, inf), (-inf, -inf), (711, inf))
edge("cosh", (0, 1), (inf, inf), (-inf, inf), (711, inf))
edge("tanh", (0, 0), (inf, 1), (-inf, -1), (40, 1))
for name in ("sin", "cos", "tan"):
    edge(name, (inf, nan), (-inf, nan), (1.2e15, nan))
edge("sin", (0, 0)), edge("cos", (0, 1)), edge("tan", (0, 0))
edge("atan", (0, 0), (inf, math.pi / 2), (-inf, -math.pi / 2), (1, math.pi / 4))
edge("asin", (0, 0), (1, math.pi / 2), (-1, -math.pi / 2), (1.0000001, nan), (-2, nan))
edge("acos", (1, 0), (-1, math.pi), (0, math.pi / 2), (1.0000001, nan), (-2, nan))
edge("atan2", (0, 1, 0), (0, -1, math.pi), (-0.0, -1, -math.pi), (1, 0, math.pi / 2), (-1, 0, -math.pi / 2), (0, 0, 0),
     (0, -0.0, math.pi), (inf, inf, math.pi / 4), (inf, -inf, 3 * math.pi / 4), (1, inf, 0), (1, -inf, math.pi),
     (inf, 1, math.pi / 2), (-inf, 1, -math.pi / 2), (nan, 1, nan), (1, nan, nan))
edge("floor", *[(x, math.floor(x)) for x in (0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 1e300, 4503599627370495.5, 0.49999999999999994, 0.95, -0.05, 2.999999,
                                               -7.000001, 5e-324, -5e-324)],
     (inf, inf), (-inf, -inf))
edge("ceil", *[(x, math.ceil(x)) for x in (0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 1e300, 4503599627370495.5)], (inf, inf))
edge("trunc", *[(x, math.trunc(x)) for x in (0.0, 0.7, -0.7, 1.5, 2.5, -2.5, 3.0, -3.0, -1e300)], (-inf, -inf))
edge("round", (0, 0), (0.5, 1), (-0.5, -1), (1.5, 2), (2.5, 3), (-2.5, -3), (0.49999999999999994, 0), (2.4, 2), (-2.6, -3),
     (4503599627370495.5, 4503599627370496), (1e300, 1e300), (inf, inf))
edge("abs", (-3, 3), (3, 3), (-inf, inf), (-0.0, 0))
edge("fmin", (1, 2, 1), (2, 1, 1), (nan, 1, nan), (1, nan, nan), (-inf, 1, -inf))
edge("fmax", (1, 2, 2), (2, 1, 2), (nan, 1, nan), (1, nan, nan), (inf, 1, inf))
edge("fmod", *[(x, y, math.fmod(x, y)) for x, y in [(5.3, 2), (-5.3, 2), (5.3, -2), (1e300, 7), (1e308, 3e-308), (1.7e308, 5e-324),
     (3, 5), (6, 3), (-6, 3), (1e16, 0.1)] + pairs(both_signs(log_uniform(1e-5, 1e15, 40)), log_uniform(1e-5, 1e5, 80))],
     (inf, 2, nan), (1, 0, nan), (3, inf, 3), (nan, 1, nan), (1, nan, nan))
edge("lgamma", (1, 0), (2, 0), (0, inf), (-1, inf), (-30, inf), (inf, inf), (-inf, inf), (1e306, inf if mp.loggamma(1e306) > 1.8e308 else mp.loggamma(1e306)))
edge("digamma", (0, nan), (-1, nan), (-7, nan), (inf, inf), (-inf, nan))
edge("trigamma", (0, inf), (-1, inf), (inf, 0), (-inf, nan))
edge("lbeta", (0, 1, inf), (1, 0, inf), (0, 0, inf), (inf, 1, -inf), (1, inf, -inf), (0, inf, nan), (-1, 1, nan), (1, 1, 0))
edge("lchoose", (5, 0, 0), (5, 5, 0), (0, 0, 0), (5, 6, -inf), (5, -1, -inf), (-1, 0, nan), (1, nan, nan), (1e300, 0, 0), (1, 1, 0))
edge("log_gamma_difference", (3, 0, 0), (0, 1, nan), (-1, 3, nan), (3, -3, nan), (3, -4, nan), (3, inf, inf))
edge("erf", (0, 0), (inf, 1), (-inf, -1), (7, 1))
edge("erfc", (0, 1), (inf, 0), (-inf, 2), (28, 0), (-7, 2))
edge("Phi", (0, 0.5), (inf, 1), (-inf, 0), (-40, 0))
edge("std_normal_lcdf", (inf, 0), (-inf, -inf), (40, 0))
edge("std_normal_lccdf", (-inf, 0), (inf, -inf))
edge("inv_Phi", (0, -inf), (1, inf), (0.5, 0), (-0.1, nan), (1.1, nan))
edge("log_modified_bessel_first_kind", (0, 0, 0), (1, 0, -inf), (0, inf, inf), (2, inf, inf), (inf, 1, -inf), (-1, 1, nan), (1, -1, nan))
edge("log_modified_bessel_first_kind_scaled", (0, 0, 0), (1, 0, -inf), (0, inf, -inf), (-1, 1, nan), (1, -1, nan))
edge("modified_bessel_ratio", (0, 0), (inf, 1), (-inf, -1))
edge("log_gamma_p", (inf, inf, nan), (2, 0, -inf), (0, 2, 0), (2, inf, 0), (inf, 2, -inf), (-1, 2, nan), (2, -1, nan), (0, 0, nan))
edge("log_gamma_q", (inf, inf, nan), (2, 0, 0), (0, 2, -inf), (2, inf, -inf), (inf, 2, 0), (-1, 2, nan), (2, -1, nan), (0, 0, nan))
edge("log_inc_beta", (2, 3, 0, -inf), (2, 3, 1, 0), (0, 3, 0.5, nan), (2, -1, 0.5, nan), (2, 3, -0.1, nan), (2, 3, 1.1, nan),
     (inf, 3, 0.5, nan))
edge("log_inc_beta_complement", (2, 3, 0, 0), (2, 3, 1, -inf), (0, 3, 0.5, nan), (2, 3, 1.1, nan))
edge("log_student_t_tail", (0, 3, -math.log(2)), (inf, 3, -inf), (-inf, 3, 0), (1, 0, nan), (1, -1, nan), (1, inf, nan))
edge("log_skew_normal_cdf", (-inf, 2, -inf), (inf, 2, 0), (1, inf, nan), (-inf, -2, -inf), (inf, -2, 0))
edge("check_positive", (1, 1), (5e-324, 5e-324), (0, nan), (-1, nan), (inf, nan))
edge("check_nonnegative", (1, 1), (0, 0), (-1, nan), (inf, nan))
edge("check_finite", (1, 1), (-3, -3), (-inf, nan), (inf, nan))
edge("check_unit", (0, 0), (1, 1), (0.5, 0.5), (-5e-324, nan), (1.0000001, nan))
ARITY = {}
for name, arguments, _ in EDGES:
    ARITY[name] = len(arguments)
for name in sorted(ARITY):  # NaN for each argument, but in pow, whose exceptions stand above
    for i in range(ARITY[name] if name != "pow" else 0):
        EDGES.append((name, tuple(nan if j == i else 0.5 for j in range(ARITY[name])), nan))


def condition(function, arguments, value):
    total = mpf(0)
    for i, x in enumerate(arguments):
        if x == 0:
            continue
        step = abs(x) * mpf(10) ** -20
        moved = [[mpf(a) for a in arguments] for _ in range(2)]
        moved[0][i] += step
        moved[1][i] -= step
        total += abs((function(*moved[0]) - function(*moved[1])) / (2 * mpf(10) ** -20) / value)
    return total


def number(x):
    if x == 0:
        return math.copysign(0, x).hex()
    x = mpf(x)
    if mp.isnan(x) or mp.isinf(x):
        return "nan" if mp.isnan(x) else "inf" if x > 0 else "-inf"
    return float(x).hex() if x == float(x) else mp.nstr(x, 20)


def main():
    wanted = sys.argv[1:]
    for name, (function, arguments) in CASES.items():
        for row in arguments if not wanted or name in wanted else []:
            row = tuple(float(x) for x in (row if isinstance(row, tuple) else (row,)))
            value = function(*map(mpf, row))
            assert mp.isfinite(value), (name, row)
            if value == 0 or abs(value) > mpf(1.79e308):
                continue
            try:
                c = condition(function, row, value)
            except (ValueError, ZeroDivisionError, TypeError, AttributeError, AssertionError):
                c = mpf(1)  # a step would leave the domain
            if not mp.isfinite(c):
                c = mpf(1)
            print(name, *(x.hex() for x in row), mp.nstr(value, 20), mp.nstr(abs(c), 3))
    for name, arguments, value in EDGES:
        if not wanted or name in wanted:
            print(name, *map(number, arguments), number(value), 0)


if __name__ == "__main__":
    main()
