"""Writes the marked section of docs/performance.md from the measurements of run.py."""
import os
import re

from machine import FLOAT32_LANES
from plot import svg
from problem import FUSED_MULTIPLY_ADDS

PLOTS = {"cuda": "peers-gpu.svg", "cpu": "peers-cpu.svg"}
PACKAGES = {"scikit-learn": "scikit-learn", "Stan": "rstan", "one thread a row": "cupy", "CuPy": "cupy", "PyTorch": "torch", "JAX": "jax",
            "Numba": "numba", "Numba on the CPU": "numba"}
ABOUT = {
    "scikit-learn": "`GaussianMixture.score`, float64, all cores",
    "Stan": "`mixture.stan` by `log_prob` of R's rstan, which keeps a tape for gradients; float64, one thread",
    "one thread a row": "what emomc began as: a CUDA kernel, row-major, float32, sum in float32",
    "CuPy": "matrix product and log-sum-exp, float32, sum in float64",
    "PyTorch": "matrix product and `logsumexp` in a CUDA graph, float32",
    "Numba": "a CUDA kernel, float32, sum in float64",
    "JAX": "jitted random walk, its loop on the device, float32, sum in float32; beside emomc's step",
    "CuPy, two Gaussians": "an elementwise kernel and `sum`, float64",
    "Numba, two Gaussians": "a CUDA kernel, float64",
    "Numba on the CPU, two Gaussians": "parallel loop, float64",
}


def number(x):
    return f"{x:,.0f}" if abs(x) >= 999.5 else f"{x:#.3g}".rstrip(".")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def method_of(result):
    return "cuda" if "gpu" in result["machine"] else "cpu"


def floor(result):
    """Returns the microseconds for the arithmetic of a row at the clock rate that the GPU sustained, or None
    without a GPU."""
    machine = result["machine"]
    gpu, clock = machine.get("gpu"), machine.get("clock_mhz")
    if not gpu or not clock or gpu["compute_capability"] not in FLOAT32_LANES:
        return None
    return FUSED_MULTIPLY_ADDS / (gpu["multiprocessors"] * FLOAT32_LANES[gpu["compute_capability"]] * clock["median"])


def where(result):
    machine, used = result["machine"], {PACKAGES.get(p["peer"].split(",")[0], "") for p in result["peers"]}
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items()
                         if name in ("python", "numpy") or any(u and name.startswith(u) for u in used))
    if "gpu" in machine:
        gpu, clock = machine["gpu"], machine["clock_mhz"]
        held = f"{clock['median']:,.0f} MHz held (least {clock['least']:,.0f})" if clock else "clock not known"
        return f"One {gpu['name']}, driver {gpu.get('driver', '?')}, {held}; {versions}."
    return f"{machine['processor']}, {machine['threads']} threads, {machine['simd']}; {versions}."


def section(result):
    method, machine = method_of(result), result["machine"]
    per_row = floor(result)
    rounds = "One round" if result["rounds"] == 1 else f"Medians of {result['rounds']} rounds"
    parts = [f"`python3 bench/run.py --rounds {result['rounds']}`, {machine['date']}. {where(result)} {rounds} in which "
             "emomc and its peers take turns; microseconds per parameter vector or per step of one chain.",
             f"![Time of an evaluation over N](images/{PLOTS[method]})"]
    parts.append(table(["N", "chains", "evaluation", "step", "sweep"],
                       [[f"{s['n']:,}", str(s["chains"]), number(s["evaluation"]), number(s["step"]), number(s["sweep"])]
                        for s in result["sizes"]]))
    if per_row:
        parts.append(f"The arithmetic of {FUSED_MULTIPLY_ADDS} fused multiply-adds a row takes {number(1e6 * per_row)} "
                     f"microseconds for N = 1,000,000 at that clock: the dashed line.")
    parts.append(table(["peer", "N", "chains", "peer", "emomc", "ratio"],
                       [[p["peer"], f"{p['n']:,}", str(p["chains"]), number(p["peer_us"]), number(p["emomc_us"]),
                         number(p["ratio"])] for p in result["peers"]]))
    used = dict.fromkeys(p["peer"] for p in result["peers"])
    parts.append("\n".join(f"* {name}: {ABOUT[name]}." for name in used))
    if result["missing"]:
        parts.append("Not measured: " + "; ".join(f"{name} ({why})" for name, why in result["missing"].items()) + ".")
    if a := result.get("accuracy"):
        parts.append(f"Error of the log likelihood of {a['n']:,} rows ({a['exact']:,.1f} in float64 by NumPy): " +
                     ", ".join(f"{name} {error:.1e}" for name, error in a["errors"].items()) + ".")
    if "em" in result:
        parts.append("A round of EM, milliseconds:\n\n" + table(
            ["N", "covariance", "method", "time", "times as fast as scikit-learn"],
            [[f"{r['rows']:,}", r["covariance"], r["method"], number(1e3 * r["seconds_per_round"]),
              number(r["times_faster"])] for r in result["em"]]))
    return "\n\n".join(parts)


def lines_of_plot(result):
    lines = {}
    for p in result["peers"]:
        if p["work"] == "evaluation":
            lines.setdefault(p["peer"], []).append((p["n"], p["peer_us"]))
        elif p["work"] == "step":
            lines.setdefault(f"{p['peer']}, step, {p['chains']} chain" + "s" * (p["chains"] > 1), []).append(
                (p["n"], p["peer_us"]))
    for s in result["sizes"]:
        lines.setdefault(f"emomc, {s['chains']} chain" + "s" * (s["chains"] > 1), []).append((s["n"], s["evaluation"]))
    # These lines are for a peer's steps with one chain: emomc's step, which evaluates several candidates at once, is
    # shorter than one evaluation.
    if any(p["work"] == "step" and p["chains"] == 1 for p in result["peers"]):
        lines["emomc, step, 1 chain"] = [(s["n"], s["step"]) for s in result["sizes"] if s["chains"] == 1]
    return lines


def write_page(page, result):
    """Replaces the section between the marks in `page`; writes the plot to the folder images next to the page."""
    method, per_row = method_of(result), floor(result)
    begin, end = (f"<!-- bench/run.py {method} {edge} -->" for edge in ("begins", "ends"))
    with open(page) as file:
        text = file.read()
    if begin not in text or end not in text:
        raise SystemExit(f"{page} has no marks {begin} and {end}")
    text = re.sub(re.escape(begin) + ".*" + re.escape(end),
                  lambda _: f"{begin}\n\n{section(result)}\n\n{end}", text, flags=re.DOTALL)
    with open(page, "w") as file:
        file.write(text)
    images = os.path.join(os.path.dirname(page), "images")
    os.makedirs(images, exist_ok=True)
    with open(os.path.join(images, PLOTS[method]), "w") as file:
        file.write(svg(lines_of_plot(result), per_row))
