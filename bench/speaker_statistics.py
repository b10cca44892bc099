#!/usr/bin/env python3
"""Measures what a classifier that normalises by speaker loses if less of the speaker is known.

Each speaker of EMO-DB is left out in turn. A model is trained on the recordings of the others, and the speaker's
recordings are classified with the statistics of all of them, of a few others of the same speaker, and of each
recording alone.

    bench/speaker_statistics.py --emomc build/release/bin/emomc --emodb corpora/emodb --json speaker.json
"""
import argparse
import collections
import json
import pathlib
import subprocess
import tempfile

LETTERS = dict(W="anger", L="boredom", E="disgust", A="fear", F="happiness", T="sadness", N="neutral")


def recall(truth, predicted):
    hits, all_ = collections.Counter(), collections.Counter()
    for t, p in zip(truth, predicted):
        all_[t] += 1
        hits[t] += t == p
    return sum(hits[c] / all_[c] for c in all_) / len(all_)


def classify(arguments, *options):
    command = [arguments.emomc, "classify", "-q", *options]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line)["predicted"] for line in result.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--emodb", default="../shared/data/emodb")
    parser.add_argument("--few", type=int, default=5, help="recordings of --speaker-from")
    parser.add_argument("--set", action="append", default=[], help="of emomc train")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    files = sorted(pathlib.Path(arguments.emodb).resolve().glob("*.wav"))
    speakers = sorted({f.name[:2] for f in files})
    truth, by_mode = [], collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "c.yaml").write_text(
            f"corpus: {{kind: manifest, path: '{folder}/m.csv'}}\n"
            "classification: {evidence: mean, temper: 4}\n"
            "sampler: {warmup: 500, draws: 250, thin: 4}\n")
        for speaker in speakers:
            rows = [f"{f},{LETTERS[f.name[5]]},{f.name[:2]}" for f in files if f.name[:2] != speaker]
            (folder / "m.csv").write_text("path,label,speaker\n" + "\n".join(rows) + "\n")
            model = str(folder / f"model{speaker}")
            options = [x for s in arguments.set for x in ("--set", s)]
            subprocess.run([arguments.emomc, "train", str(folder / "c.yaml"), "-o", model, "-q", *options], check=True)
            own = [str(f) for f in files if f.name[:2] == speaker]
            truth += [LETTERS[pathlib.Path(f).name[5]] for f in own]
            by_mode["all recordings of the speaker"] += classify(arguments, model, *own)
            few = own[:: max(1, len(own) // arguments.few)][: arguments.few]
            by_mode[f"--speaker-from {arguments.few} recordings"] += classify(
                arguments, model, *own, "--speaker-from", *few)
            by_mode["each recording alone"] += [classify(arguments, model, f)[0] for f in own]
            print(speaker, {mode: round(recall(truth, p), 3) for mode, p in by_mode.items()}, flush=True)
    result = {mode: {"uar": recall(truth, p), "accuracy": sum(t == q for t, q in zip(truth, p)) / len(truth)}
              for mode, p in by_mode.items()}
    print(json.dumps(result, indent=1))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
