#!/usr/bin/env python3
"""Measures on this GPU how close the rule that chooses the kernels of a step is to the fastest choice.

    bench/forms.py --emomc build/release/bin/emomc [--rounds 3] [--json FILE]

Random walks on a GPU run in separate kernels for the parts of a step, or in one of five forms of a kernel that runs
many steps (docs/gpu-kernels.md); a rule on sizes chooses (libsampler/src/resident_plan.cpp). Each row of the table is
one size. It has the microseconds of a step in each form in which the chains fit, what the rule chose, and the ratio of
its time to the smallest. Times are medians over rounds in which all forms take turns.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time

FORMS = ("launched", "ahead", "in_turn", "lines", "wide", "teams")
MODELS = {"diagonal": [], "full": ["--covariance", "full"], "double": ["--precision", "double"]}


def bench(program, kernels, more, rows, chains, seconds):
    """Returns pairs ((kind, rows, chains), (microseconds or None if the chains do not fit the form, name of the
    form that ran))."""
    done = subprocess.run([program, "bench", "--json", "--method", "cuda", "--kernels", kernels, "--rows", rows, "--chains",
                           chains, "--seconds", str(seconds), *more], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{program} bench: {done.stderr}")
    for result in json.loads(done.stdout):
        for kind in ("step", "sweep"):
            ran = result[f"{kind}_kernels"]
            fits = kernels == "fastest" or ran.startswith("many steps in one kernel") == (kernels != "launched")
            yield (kind, result["n"], result["chains"]), (result[f"microseconds_per_{kind}"] if fits else None, ran)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--rows", default="100,1000,5316,20000,100000,1000000")
    parser.add_argument("--chains", default="1,4,16,64,256,512")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--json")
    a = parser.parse_args()
    rows_of_table = []
    begun = time.monotonic()
    print(f"{'model':<9}{'kind':<6}{'rows':>8}{'chains':>7}  " + "".join(f"{form:>10}" for form in FORMS) +
          f"{'the rule':>10}{'/ least':>9}")
    for model in a.models.split(","):
        times, rule = {}, {}
        for _ in range(a.rounds):
            for kernels in ("fastest", *FORMS):
                print(f"{time.monotonic() - begun:.0f} s: {model}, {kernels}", file=sys.stderr, flush=True)
                for size, (taken, ran) in bench(a.emomc, kernels, MODELS[model], a.rows, a.chains, a.seconds):
                    if kernels == "fastest":
                        rule[size] = ran
                    if taken is not None:
                        times.setdefault(size, {}).setdefault(kernels, []).append(taken)
        for size, by_form in sorted(times.items()):
            of = {form: statistics.median(measured) for form, measured in by_form.items()}
            least = min(of[form] for form in FORMS if form in of)
            kind, rows, chains = size
            print(f"{model:<9}{kind:<6}{rows:>8}{chains:>7}  " +
                  "".join(f"{of[form]:>10.4g}" if form in of else f"{'-':>10}" for form in FORMS) +
                  f"{of['fastest']:>10.4g}{of['fastest'] / least:>9.3f}", flush=True)
            rows_of_table.append({"model": model, "kind": kind, "rows": rows, "chains": chains, "times": of,
                                  "rule": rule[size], "ratio": of["fastest"] / least})
    ratios = [row["ratio"] for row in rows_of_table]
    print(f"{len(ratios)} sizes: the rule's time over the least: median {statistics.median(ratios):.3f}, "
          f"largest {max(ratios):.3f}; {sum(r > 1.03 for r in ratios)} above 1.03")
    if a.json:
        with open(a.json, "w", encoding="utf-8") as file:
            json.dump(rows_of_table, file, indent=1)


if __name__ == "__main__":
    main()
