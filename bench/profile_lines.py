#!/usr/bin/env python3
"""Shows where a kernel executes and waits, by stretches of machine code whose instructions are executed equally often.

    ncu --section SourceCounters --kernel-name regex:resident_kernel --launch-skip 2 --launch-count 1 -o profile \\
        build/release/bin/emomc bench --method cuda --rows 5316 --chains 512 --proposal component_wise
    ncu --import profile.ncu-rep --page source --csv | python3 bench/profile_lines.py [--least PER_CENT]
"""
import argparse
import collections
import csv
import sys

EXECUTED, SAMPLES = "Instructions Executed", "# Samples"


def stretches(rows, number, waits):
    """Returns consecutive lines whose execution counts differ by less than 2 %."""
    found = []
    for line, row in enumerate(rows):
        count = number(row, EXECUTED)
        if not found or abs(count - found[-1]["count"]) > 0.02 * max(count, found[-1]["count"], 1):
            found.append({"first": line, "count": count, "executed": 0, "samples": 0, "lines": 0,
                          "waits": collections.Counter(), "instructions": collections.Counter()})
        one = found[-1]
        one["lines"] += 1
        one["executed"] += count
        one["samples"] += number(row, SAMPLES)
        one["waits"].update({name: number(row, name) for name in waits})
        words = [word for word in row["Source"].split() if not word.startswith("@")]
        one["instructions"][words[0].split(".")[0]] += 1
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--least", type=float, default=0.5, help="leave out what has less of both, per cent")
    a = parser.parse_args()
    lines = list(csv.reader(sys.stdin))
    head = next((line for line in lines if EXECUTED in line), None)
    if head is None:
        sys.exit("this is no page of ncu's source counters")
    rows = [dict(zip(head, line)) for line in lines[lines.index(head) + 1:] if len(line) == len(head)]
    waits = [name for name in head if name.startswith("stall_") and "Not Issued" not in name]
    number = lambda row, name: int(row[name] or 0)
    executed, samples = (max(1, sum(number(row, name) for row in rows)) for name in (EXECUTED, SAMPLES))
    total = collections.Counter({name: sum(number(row, name) for row in rows) for name in waits})
    print(f"{executed:,} instructions of warps, {samples:,} samples: " +
          ", ".join(f"{name[6:]} {100 * count / samples:.1f} %" for name, count in total.most_common(12)))
    for one in stretches(rows, number, waits):
        share, waited = 100 * one["executed"] / executed, 100 * one["samples"] / samples
        if max(share, waited) < a.least:
            continue
        print(f"line {one['first']:6d}, {one['lines']:4d} lines x {one['count']:9,d}: {share:5.1f} % of instructions, "
              f"{waited:5.1f} % of samples; " +
              " ".join(f"{name[6:]}:{100 * n / max(1, one['samples']):.0f}" for name, n in one["waits"].most_common(4)) +
              "; " + " ".join(f"{n} {name}" for name, n in one["instructions"].most_common(4)))


if __name__ == "__main__":
    main()
