#!/usr/bin/env python3
"""Plots the ranks of simulation-based calibration, with a panel for each scenario and a line for each quantity.

    EMOMC_SBC_FOLDER=$PWD/build/sbc ctest --test-dir build/release -L long -R Calibration
    bench/sbc_plot.py build/sbc docs/images/sbc.svg

A line is the share of ranks up to a position, minus that of uniform ranks; the band is that of the tests. The script
needs only Python.
"""
import argparse
import json
import math
import pathlib

COLUMNS, PANEL_WIDTH, PANEL_HEIGHT, GAP, LEFT, TOP = 4, 210, 120, 26, 44, 34
LINE, OUTSIDE, BAND = "#2171b5", "#cb181d", "#e3e3e3"


def shares_above_uniform(counts):
    """Returns (place, share of ranks <= rank - place) for each rank, including both ends."""
    points, cumulated = [(0.0, 0.0)], 0
    for rank, count in enumerate(counts):
        cumulated += count
        place = (rank + 1) / len(counts)
        points.append((place, cumulated / sum(counts) - place))
    return points


def leaves(band, counts):
    cumulated = 0
    for lower, upper, count in zip(band["lower"], band["upper"], counts):
        cumulated += count
        if not lower <= cumulated <= upper:
            return True
    return False


def panel(scenario, x0, y0, height_of_one):
    def place(x, y):
        return f"{x0 + x * PANEL_WIDTH:.1f} {y0 + PANEL_HEIGHT / 2 - y * height_of_one:.1f}"

    band, n = scenario["band"], scenario["replicates"]
    places = [(i + 1) / (len(band["lower"]) + 1) for i in range(len(band["lower"]))]
    edges = [place(0, 0)] + [place(p, u / n - p) for p, u in zip(places, band["upper"])] + [place(1, 0)]
    edges += [place(p, l / n - p) for p, l in reversed(list(zip(places, band["lower"])))]
    parts = [f'<path d="M{"L".join(edges)}Z" fill="{BAND}"/>',
             f'<path d="M{place(0, 0)}L{place(1, 0)}" stroke="#888" stroke-width="0.7"/>']
    for quantity in scenario["quantities"].values():
        outside = leaves(band, quantity["counts"])
        points = "L".join(place(x, y) for x, y in shares_above_uniform(quantity["counts"]))
        parts.append(f'<path d="M{points}" fill="none" stroke="{OUTSIDE if outside else LINE}" '
                     f'stroke-width="{1.6 if outside else 0.8}" stroke-opacity="0.8"/>')
    title = scenario["scenario"].replace("_", " ")
    parts.append(f'<text x="{x0}" y="{y0 - 4}" font-size="11">{title}</text>')
    parts.append(f'<text x="{x0 + PANEL_WIDTH}" y="{y0 + PANEL_HEIGHT - 3}" font-size="9" fill="#555" '
                 f'text-anchor="end">{scenario["proposal"]}, {len(scenario["quantities"])} quantities</text>')
    return parts


def svg(scenarios):
    widest = max(abs(limit / s["replicates"] - (i + 1) / (len(s["band"]["lower"]) + 1))
                 for s in scenarios for side in ("lower", "upper") for i, limit in enumerate(s["band"][side]))
    top = math.ceil(widest * 1.15 * 100) / 100
    scale = PANEL_HEIGHT / 2 / top
    rows = math.ceil(len(scenarios) / COLUMNS)
    width, height = LEFT + COLUMNS * (PANEL_WIDTH + GAP), TOP + rows * (PANEL_HEIGHT + GAP) + 16
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for i, scenario in enumerate(scenarios):
        x0 = LEFT + i % COLUMNS * (PANEL_WIDTH + GAP)
        y0 = TOP + i // COLUMNS * (PANEL_HEIGHT + GAP)
        parts += panel(scenario, x0, y0, scale)
        if i % COLUMNS == 0:
            for y in (-top, 0, top):
                parts.append(f'<text x="{x0 - 5}" y="{y0 + PANEL_HEIGHT / 2 - y * scale + 3:.1f}" font-size="9" '
                             f'text-anchor="end">{y:+.2f}</text>'.replace("+0.00", "0"))
    parts.append(f'<text x="{LEFT}" y="{height - 8}" font-size="11">share of ranks up to a place, less that of uniform '
                 "ranks; from the lowest rank to the highest</text>")
    return "\n".join(parts) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="with a JSON file per scenario")
    parser.add_argument("output", type=pathlib.Path)
    arguments = parser.parse_args()
    files = sorted(arguments.folder.glob("*.json"))
    if not files:
        parser.error(f"{arguments.folder}: no JSON files; see --help for the tests that write them")
    arguments.output.write_text(svg([json.loads(file.read_text()) for file in files]))


if __name__ == "__main__":
    main()
