#!/usr/bin/env python3
"""Computes the efficiency of a run by the number of GPUs from a model, for machines that were not available to be
measured.

  bench/cluster_model.py [--evaluation US] [--chains C] [--dim D] [--rows-seconds S] [--latency US] [--bandwidth GBS]

Chains over P GPUs. A GPU evaluates its C / P chains. If a GPU has few chains, an evaluation of one chain takes
longer (--few: microseconds per chain at 16 chains or fewer). At the end of each segment of 30 ms the draws are
gathered:
  gather = latency ceil(log2 P) + bytes (P - 1) / P / bandwidth,  bytes = C (dim + 2) 8 kept steps per segment.
A GPU runs the next segment in the meantime, so a gather counts only as far as it takes longer than a segment. The
imbalance counts too: the slowest of P equal GPUs is later than their mean by sd sqrt(2 ln P), with sd = 0.5 % of a
segment.

Rows over P GPUs. Each evaluation of all chains takes T / P and a gather of nodes in the queue:
  gather = latency ceil(log2 P) + C nodes 8 bytes / bandwidth,  nodes = 16 per rank.

--evaluation and --few are measured (docs/performance.md, one H100, a mixture of 8 components on 1e6 rows). The sd of a
segment, and the latency and the bandwidth of a network of 100 Gbit/s, are assumptions that have not been measured
here.
"""
import argparse
import math


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluation", type=float, default=108.0, help="us per chain and evaluation with many chains")
    parser.add_argument("--few", type=float, default=137.0, help="the same with 16 chains on a GPU")
    parser.add_argument("--chains", type=int, default=4096)
    parser.add_argument("--dim", type=int, default=216)
    parser.add_argument("--rows-seconds", type=float, default=0.010, help="an evaluation of all chains by one GPU")
    parser.add_argument("--rows-chains", type=int, default=16)
    parser.add_argument("--latency", type=float, default=20.0, help="us of a hop")
    parser.add_argument("--bandwidth", type=float, default=12.0, help="GB/s between machines")
    arguments = parser.parse_args()
    segment = 0.03
    print("GPUs  chains: efficiency   rows: efficiency")
    for ranks in (1, 2, 8, 64):
        own = arguments.chains / ranks
        share = min(1.0, max(0.0, (256 - own) / (256 - 16)))  # between the two measured sizes
        each = arguments.evaluation + share * (arguments.few - arguments.evaluation)
        step = own * each * 1e-6
        steps = max(1.0, segment / step)
        hops = math.ceil(math.log2(ranks)) if ranks > 1 else 0
        moved = arguments.chains * (arguments.dim + 2) * 8 * steps * (ranks - 1) / ranks
        gather = hops * arguments.latency * 1e-6 + moved / (arguments.bandwidth * 1e9)
        busy = steps * step
        wait = 0.005 * busy * math.sqrt(2 * math.log(ranks)) if ranks > 1 else 0
        one = arguments.chains * arguments.evaluation * 1e-6 * steps
        chains = one / (ranks * (busy + wait + max(0.0, gather - busy)))
        evaluation = arguments.rows_seconds / ranks
        nodes = hops * arguments.latency * 1e-6 + arguments.rows_chains * 16 * ranks * 8 / (arguments.bandwidth * 1e9)
        rows = arguments.rows_seconds / (ranks * (evaluation + (nodes if ranks > 1 else 0)))
        print(f"{ranks:4d}  {chains:18.3f}   {rows:16.3f}")


if __name__ == "__main__":
    main()
