#!/usr/bin/env python3
"""Measures softmax regression on EMO-DB if test recordings are shorter, quieter, noisier or limited to telephone band.

Each speaker is left out in turn. `emomc train` makes a model of the recordings of the others, and `emomc classify`
applies it to the speaker's recordings under each condition: cut to their middle part, made quieter, with pink noise
(its level is relative to the recording's own power), or limited to the band of a telephone. The recordings that are
known of the speaker differ too:

    own     all recordings of the speaker, under the same condition
    clean   all recordings of the speaker as they are, the classified one among them
    five    five other recordings as they are, which are not scored
    none    nothing

    bench/emotion_conditions.py EMODB --emomc build/release/bin/emomc
    bench/emotion_conditions.py EMODB --emomc build/release/bin/emomc --train noise --conditions clean noise-20 noise-10 noise-5

With `--train noise` each training recording has, by chance, no noise or pink noise at 20, 10 or 5 dB.
The script needs NumPy. It prints accuracy, UAR, mean confidence and log loss, and keeps no files.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import wave

import numpy as np

CONDITIONS = ["clean", "cut-1", "cut-0.5", "cut-0.2", "quiet-20", "noise-20", "noise-10", "noise-5", "telephone"]
KNOWN = ["own", "clean", "five", "none"]
LETTERS = dict(W="anger", L="boredom", E="disgust", A="fear", F="happiness", T="sadness", N="neutral")
NUM_ENROLLED = 5


def read(path):
    with wave.open(str(path)) as file:
        if file.getsampwidth() != 2 or file.getnchannels() != 1:
            sys.exit(f"{path}: expected 16 bit, one channel")
        return file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)


def write(path, rate, samples):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.clip(np.rint(samples), -32768, 32767).astype("<i2").tobytes())


def pink_noise(count, rng):
    """Returns pink noise: power proportional to 1 / frequency, mean power 1."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    spectrum[0] = 0
    spectrum[1:] /= np.sqrt(np.arange(1, len(spectrum)))
    noise = np.fft.irfft(spectrum, count)
    return noise / np.sqrt(np.mean(noise**2))


def changed(rate, samples, condition, rng):
    kind, _, amount = condition.partition("-")
    if kind == "cut":
        count = min(len(samples), round(float(amount) * rate))
        begin = (len(samples) - count) // 2
        return samples[begin:begin + count]
    if kind == "quiet":
        return samples * 10 ** (-float(amount) / 20)
    if kind == "noise":
        power = np.mean(samples**2)
        return samples + np.sqrt(power * 10 ** (-float(amount) / 10)) * pink_noise(len(samples), rng)
    if kind == "telephone":
        spectrum = np.fft.rfft(samples)
        hz = np.fft.rfftfreq(len(samples), 1 / rate)
        spectrum[(hz < 300) | (hz > 3400)] = 0
        return np.fft.irfft(spectrum, len(samples))
    return samples


def call(arguments, *command):
    result = subprocess.run([arguments.emomc, *command], capture_output=True, text=True, check=False)
    if result.returncode not in (0, 2):
        sys.exit(f"emomc {command[0]}: {result.stderr}")
    return result.stdout


def train(arguments, folder, files, rng):
    """Trains a model on `files`, each of which may get noise."""
    (folder / "train").mkdir()
    rows = []
    for file in files:
        rate, samples = read(file)
        level = rng.choice(["clean", "noise-20", "noise-10", "noise-5"]) if arguments.train == "noise" else "clean"
        write(folder / "train" / file.name, rate, changed(rate, samples, level, rng))
        rows.append([folder / "train" / file.name, LETTERS[file.name[5]], file.name[:2]])
    with open(folder / "train.csv", "w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([["path", "label", "speaker"], *rows])
    (folder / "c.yaml").write_text(f"corpus: {{kind: manifest, path: '{folder}/train.csv'}}\n", encoding="utf-8")
    settings = [part for one in arguments.set for part in ("--set", one)]
    call(arguments, "train", str(folder / "c.yaml"), *settings, "-q", "-o", str(folder / "model"))


def classify(arguments, folder, tested, known, enrolled):
    """Returns the probabilities by name of file; a recording that cannot be classified is left out."""
    result = {}
    groups = [[file] for file in tested] if known == "none" else [tested]
    option = []
    if known in ("clean", "five"):
        option = ["--speaker-from", *map(str, enrolled)]
    for group in groups:
        for line in call(arguments, "classify", str(folder / "model"), *map(str, group), "-q", *option).splitlines():
            entry = json.loads(line)
            if "error" not in entry:
                result[pathlib.Path(entry["file"]).name] = entry["probabilities"]
    return result


def report(name, known, entries):
    truth = np.array([t for t, _ in entries])
    p_truth = np.array([p[t] for t, p in entries])
    predicted = np.array([max(p, key=p.get) for _, p in entries])
    confidence = np.mean([max(p.values()) for _, p in entries])
    recall = np.mean([(predicted[truth == c] == c).mean() for c in np.unique(truth)])
    loss = -np.log(np.maximum(p_truth, 1e-12)).mean()
    print(f"{name:10} {known:6} {len(entries):5} {(predicted == truth).mean():9.3f} {recall:6.3f} {confidence:11.3f} "
          f"{loss:9.3f}", flush=True)
    return dict(condition=name, known=known, recordings=len(entries), accuracy=float((predicted == truth).mean()),
                uar=float(recall), confidence=float(confidence), log_loss=float(loss))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--emomc", default="build/release/bin/emomc")
    parser.add_argument("--conditions", nargs="+", default=CONDITIONS, metavar="NAME",
                        help=f"of {', '.join(CONDITIONS)}; other numbers are allowed")
    parser.add_argument("--known", nargs="+", default=KNOWN, choices=KNOWN)
    parser.add_argument("--train", default="clean", choices=["clean", "noise"])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of emomc train")
    parser.add_argument("--json", type=pathlib.Path, help="write the numbers there too")
    arguments = parser.parse_args()
    files = sorted(arguments.corpus.resolve().rglob("*.wav"))
    if not files:
        sys.exit(f"{arguments.corpus}: no WAV file is in it")
    entries = {}
    for speaker in sorted({file.name[:2] for file in files}):
        rng = np.random.default_rng(int(speaker))
        own = [file for file in files if file.name[:2] == speaker]
        five = list(rng.permutation(own)[:NUM_ENROLLED])
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            train(arguments, folder, [file for file in files if file.name[:2] != speaker], rng)
            for condition in arguments.conditions:
                (folder / condition).mkdir()
                for file in own:
                    rate, samples = read(file)
                    write(folder / condition / file.name, rate, changed(rate, samples, condition, rng))
                for known in arguments.known:
                    tested = [file for file in own if known != "five" or file not in five]
                    found = classify(arguments, folder, [folder / condition / file.name for file in tested], known,
                                     five if known == "five" else own)
                    entries.setdefault((condition, known), []).extend(
                        (LETTERS[file.name[5]], found[file.name]) for file in tested if file.name in found)
        print(f"speaker {speaker} done", file=sys.stderr, flush=True)
    print(f"{'condition':10} {'known':6} {'rows':>5} {'accuracy':>9} {'UAR':>6} {'confidence':>11} {'log loss':>9}")
    results = [report(*key, value) for key, value in entries.items()]
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
