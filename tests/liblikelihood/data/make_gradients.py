"""Partial derivatives of the language's functions and densities with 50 digits, by central differences of the formulas
in make_special_functions.py and make_densities.py, for gradients_test.cpp:

    python3 make_gradients.py > gradients.txt

With names as arguments it makes only the lines of those.
Needs mpmath and scipy (made with 1.4.1 and 1.17.1). A line is: function, number of arguments, arguments, value, then for
each argument the derivative and its condition, the sum over the arguments of |x d/dx of the derivative|: by how much it
changes with a relative change of them. A derivative with respect to a count is nan."""
import os
import sys

from mpmath import mp, mpf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../libcore/data"))
import make_densities  # noqa: E402
import make_special_functions  # noqa: E402

mp.dps = 60
LEFT_OUT = {"log_gamma_ratio"}  # not a function of the language
PER_FUNCTION, PER_INTEGRAL = 12, 3  # number of tried arguments of each function


class Differences:
    """The way in which a function is differentiated: working digits, of which the later ones are tried if the
    first ones do not suffice, the exponents of two relative steps for 60 digits, and how far their results may
    differ."""

    def __init__(self, digits, steps, agreement):
        self.digits, self.steps, self.agreement = digits, steps, agreement

    def __call__(self, function, arguments, i):
        for digits in self.digits:
            with mp.workdps(digits):
                fine, coarse = (self.slope(function, arguments, i, digits / 60 * step) for step in self.steps)
                is_last = digits == self.digits[-1]
                if not mp.isfinite(fine) or abs(fine - coarse) <= self.agreement * abs(fine) and (fine != 0 or is_last):
                    return fine
        raise Imprecise

    @staticmethod
    def slope(function, arguments, i, step):
        x = arguments[i]
        width = (abs(x) if x != 0 else mpf(1)) * mpf(10)**-step
        moved = [list(arguments), list(arguments)]
        moved[0][i] += width
        moved[1][i] -= width
        return (function(*moved[0]) - function(*moved[1])) / (2 * width)


class Imprecise(Exception):
    pass


# Near a constant a function needs more digits, which take too long for functions that are series or inverses. The
# integrals of the skew normal distribution have 40 digits.
EXACT = Differences((60, 400), (25, 20), mpf(10)**-18)
SLOW = Differences((60,), (25, 20), mpf(10)**-18)
INTEGRAL = Differences((60,), (10, 8), mpf(10)**-13)


def method_of(name):
    if name == "log_skew_normal_cdf" or name.startswith("skew_normal_l") and name.endswith("cdf"):
        return INTEGRAL
    return SLOW if any(part in name for part in ("inv_Phi", "student_t", "inc_beta", "log_gamma_p", "log_gamma_q")) else EXACT


def condition(derivative, function, arguments, i, is_real):
    total = mpf(0)
    for j, x in enumerate(arguments):
        if not is_real[j] or x == 0:
            continue
        step = abs(x) * mpf(10)**-5
        moved = [list(arguments), list(arguments)]
        moved[0][j] += step
        moved[1][j] -= step
        total += abs(derivative(function, moved[0], i) - derivative(function, moved[1], i)) / (2 * mpf(10)**-5)
    return total


def main():
    wanted = sys.argv[1:]
    functions = {name: (case[0], case[1]) for name, case in make_special_functions.CASES.items() if name not in LEFT_OUT}
    functions |= {name: (case[0], case[1]) for name, case in make_densities.CASES.items()}
    for name, (function, rows) in functions.items():
        if wanted and name not in wanted:
            continue
        derivative = method_of(name)
        most = PER_INTEGRAL if derivative is INTEGRAL else PER_FUNCTION
        rows = [row if isinstance(row, tuple) else (row,) for row in rows]
        # The arguments are far from the limits of float64, where neither value nor derivative is a number.
        rows = [row for row in rows if all(x == 0 or 1e-30 < abs(x) < 1e30 for x in row)]
        count = 0
        for row in rows[::max(1, len(rows) // (2 * most))]:
            if count == most:
                break
            is_real = [not (isinstance(x, int) and name in make_densities.CASES) for x in row]
            try:
                arguments = [mpf(x) for x in row]
                value = function(*arguments)
                numbers = []
                for i in range(len(row)):
                    if is_real[i]:
                        numbers += [derivative(function, arguments, i), condition(derivative, function, arguments, i, is_real)]
                    else:
                        numbers += [mp.nan, mpf(0)]
            except (ValueError, ZeroDivisionError, TypeError, AttributeError, AssertionError, Imprecise):
                continue  # a step leaves the domain, or the derivative is lost among rounding errors
            if not mp.isfinite(value) or any(mp.isinf(x) or mp.im(x) != 0 or abs(x) > 1e200 or 0 < abs(x) < 1e-50 for x in numbers):
                continue
            count += 1
            print(name, len(row), *(x if isinstance(x, int) else float(x).hex() for x in row), mp.nstr(value, 20),
                  *(mp.nstr(mp.re(x), 17) for x in numbers), flush=True)
        if count == 0:
            sys.exit(f"{name}: no arguments")


if __name__ == "__main__":
    main()
