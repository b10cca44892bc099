"""Partial derivatives of the language's functions and densities with 50 digits, by central differences of the formulas
in make_special_functions.py and make_densities.py, for gradients_test.cpp:

    python3 make_gradients.py > gradients.txt

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
PER_FUNCTION = 12
# Not functions of the language; piecewise constant; values that the test has at hand itself.
LEFT_OUT = {"log_gamma_ratio"}
SLOW = False  # the function is an integral, or its inverse


class Imprecise(Exception):
    pass


def difference(function, arguments, i, digits):
    x = arguments[i]
    step = (abs(x) if x != 0 else mpf(1)) * mpf(10)**-digits
    moved = [list(arguments), list(arguments)]
    moved[0][i] += step
    moved[1][i] -= step
    return (function(*moved[0]) - function(*moved[1])) / (2 * step)


def derivative(function, arguments, i):
    """By two step sizes, which have to agree; with more digits where the function is near a constant."""
    for digits in (60, 400) if not SLOW else (60,):
        with mp.workdps(digits):
            fine, coarse = (difference(function, arguments, i, digits / 60 * s) for s in (25, 20))
            if not mp.isfinite(fine) or abs(fine - coarse) <= mpf(10)**-18 * abs(fine) and (fine != 0 or digits > 60):
                return fine
    raise Imprecise


def condition(function, arguments, i, is_real):
    total = mpf(0)
    for j, x in enumerate(arguments):
        if not is_real[j] or x == 0:
            continue
        step = abs(x) * mpf(10)**-8
        moved = [list(arguments), list(arguments)]
        moved[0][j] += step
        moved[1][j] -= step
        total += abs(derivative(function, moved[0], i) - derivative(function, moved[1], i)) / (2 * mpf(10)**-8)
    return total


def main():
    functions = {name: (case[0], case[1]) for name, case in make_special_functions.CASES.items() if name not in LEFT_OUT}
    functions |= {name: (case[0], case[1]) for name, case in make_densities.CASES.items()}
    for name, (function, rows) in functions.items():
        global SLOW
        SLOW = any(part in name for part in ("skew_normal_cdf", "skew_normal_l", "inv_Phi", "student_t", "inc_beta", "log_gamma_p", "log_gamma_q"))
        rows = [row if isinstance(row, tuple) else (row,) for row in rows]
        # Far from the limits of float64, where neither value nor derivative is a number.
        rows = [row for row in rows if all(x == 0 or 1e-30 < abs(x) < 1e30 for x in row)]
        count = 0
        for row in rows[::max(1, len(rows) // (2 * PER_FUNCTION))]:
            if count == (3 if "skew_normal" in name and "cdf" in name else PER_FUNCTION):
                break
            is_real = [not (isinstance(x, int) and name in make_densities.CASES) for x in row]
            try:
                arguments = [mpf(x) for x in row]
                value = function(*arguments)
                numbers = []
                for i in range(len(row)):
                    if is_real[i]:
                        numbers += [derivative(function, arguments, i), condition(function, arguments, i, is_real)]
                    else:
                        numbers += [mp.nan, mpf(0)]
            except (ValueError, ZeroDivisionError, TypeError, AttributeError, AssertionError, Imprecise):
                continue  # a step leaves the domain, or the derivative is lost among rounding errors
            if not mp.isfinite(value) or any(mp.isinf(x) or mp.im(x) != 0 or abs(x) > 1e200 or 0 < abs(x) < 1e-50 for x in numbers):
                continue
            count += 1
            print(name, len(row), *(x if isinstance(x, int) else float(x).hex() for x in row), mp.nstr(value, 20),
                  *(mp.nstr(mp.re(x), 17) for x in numbers), flush=True)
        # mpmath's integrals of the skew normal distribution have too few digits; its tails are tested by their density.
        if count == 0 and "skew_normal" not in name:
            sys.exit(f"{name}: no arguments")


if __name__ == "__main__":
    main()
