"""Descriptors and functionals by NumPy and SciPy, from the formulas of docs/functionals.md. Writes functionals.json, which
functionals_test reads. Needs numpy and scipy.

    make_functionals.py                   functionals.json: synthetic signals
    make_functionals.py FILE.wav...       prints a CSV of all functionals, to compare with `emomc features --functionals full`
"""
import json
import os
import sys

import numpy as np
import scipy.fft
import scipy.io.wavfile
import scipy.signal
import scipy.stats

LEAST = 1e-10
LEVEL = ["level_db", "loudness", "zero_crossings", "centroid", "spread", "entropy", "rolloff_25", "rolloff_75",
         "rolloff_90", "flux", "slope_0_500", "slope_500_1500", "slope_0_5000", "alpha_ratio", "hammarberg", "flatness",
         "periodicity"]
VOICE = ["f0", "hnr", "jitter", "shimmer", "h1_h2", "h1_high"]
CEPSTRAL = [f"c{i}" for i in range(1, 15)] + [f"band_{i}" for i in range(2, 27, 3)]


def synthetic_voice(rate):
    """Returns one second in 16 bits: ten harmonics of a tone that glides from 120 to 180 Hz, with pauses, and
    noise."""
    noise, state = np.empty(rate), 1
    for n in range(rate):
        state = (state * 1664525 + 1013904223) % 2**32
        noise[n] = state / 2**32 - 0.5
    t = np.arange(rate) / rate
    phase = 2 * np.pi * (120 * t + 30 * t * t)
    voice = sum(np.sin(h * phase) / h for h in range(1, 11))
    on = ((t >= 0.1) & (t < 0.45)) | ((t >= 0.6) & (t < 0.9))
    x = 0.2 * voice * on * (1 + 0.3 * np.sin(2 * np.pi * 5 * t)) + 0.004 * noise
    x[t >= 0.95] = 0
    return np.floor(x * 32767 + 0.5) / 32768


def samples_of(seconds, rate):
    return int(np.floor(seconds * rate + 0.5))


def mel(f):
    return 2595 * np.log10(1 + f / 700)


def corners(count):
    return 700 * (10 ** (np.linspace(mel(20), mel(8000), count + 2) / 2595) - 1)


def filters(count, fft_size, rate):
    c, f = corners(count), np.arange(fft_size // 2 + 1) * rate / fft_size
    return np.array([np.interp(f, c[i:i + 3], [0, 1, 0]) for i in range(count)])


def pitch(x, rate, centres, floor=75.0, ceiling=600.0):
    """Returns f0 (0: unvoiced), the autocorrelation at its period, and the largest of all candidates, by Boersma
    1993 with its default settings."""
    window = int(np.floor(3 * rate / floor + 0.5))
    padded = np.concatenate([np.zeros(window), x, np.zeros(window)])
    loudest = np.abs(x - x.mean()).max()
    taper = scipy.signal.get_window("hann", 2 * window, fftbins=True)[1::2]  # sampled at (n + 1/2) / window
    own = np.correlate(taper, taper, "full")[window - 1:]
    frames = []
    for centre in centres:
        begin = centre - window // 2 + window
        frame = padded[begin:begin + window] - padded[begin:begin + window].mean()
        peak = np.abs(frame).max()
        full = scipy.signal.correlate(frame * taper, frame * taper, "full", method="fft")[window - 1:]
        lags = int(rate / floor) + 2
        r = full[:lags] / full[0] / (own[:lags] / own[0]) if full[0] > 0 else np.zeros(lags)
        found = []
        for lag in range(max(2, int(rate / ceiling)), lags - 1):
            a, b, c = r[lag - 1:lag + 2]
            if not (b > a and b >= c and b >= 0.225):
                continue
            parabola = np.polyfit([-1, 0, 1], [a, b, c], 2)
            top = -parabola[1] / (2 * parabola[0])
            f0, height = rate / (lag + top), np.polyval(parabola, top)
            if not floor <= f0 <= ceiling:
                continue
            height = 1 / height if height > 1 else height
            found.append((f0, height - 0.01 * np.log2(floor / f0), height))
        found.sort(key=lambda one: -one[1])
        quiet = peak / loudest if loudest > 0 else 0
        frames.append([(0, 0.45 + max(0, 2 - quiet * 1.45 / 0.03), 0)] + found[:14])
    gains, back = [s for _, s, _ in frames[0]], []
    for before, now in zip(frames, frames[1:]):
        choice = []
        for f0, strength, _ in now:
            costs = [0.35 * abs(np.log2(p / f0)) if p > 0 and f0 > 0 else 0.14 * ((p > 0) != (f0 > 0)) for p, _, _ in before]
            values = np.array(gains) - costs
            choice.append((int(values.argmax()), values.max() + strength))
        back.append([i for i, _ in choice])
        gains = [g for _, g in choice]
    path = [int(np.argmax(gains))]
    for step in reversed(back):
        path.insert(0, step[path[0]])
    chosen = [frame[i] for frame, i in zip(frames, path)]
    return (np.array([f for f, _, _ in chosen]), np.array([r for _, _, r in chosen]),
            np.array([max(r for _, _, r in frame) for frame in frames]))


def perturbations(x, rate, f0, centres, hop):
    """Returns places, relative differences of neighbouring periods, and their level differences in dB."""
    result, t = [], 0
    while t < len(f0):
        if f0[t] <= 0:
            t += 1
            continue
        end = t
        while end < len(f0) and f0[end] > 0:
            end += 1
        begin, stop, cycles = float(centres[t]) - hop // 2, centres[end - 1] + hop // 2, []
        while begin < stop:
            k = min(max(t + int(np.floor((begin - centres[t]) / hop + 0.5)), t), end - 1)
            expected = rate / f0[k]
            length, at = int(np.floor(expected + 0.5)), int(np.floor(begin + 0.5))
            low, high = int(0.8 * expected), int(np.ceil(1.25 * expected))
            if begin < 0 or at + length + high + 2 > len(x):
                break
            lags = np.arange(low - 1, high + 2)
            r = np.array([np.corrcoef(x[at:at + length], x[at + lag:at + lag + length])[0, 1] for lag in lags])
            j = 1 + int(r[1:-1].argmax())
            bend = r[j - 1] - 2 * r[j] + r[j + 1]
            shift = 0.5 * (r[j - 1] - r[j + 1]) / bend if bend < 0 else 0
            period = lags[j] + (shift if abs(shift) <= 1 else 0)
            cycles.append((begin + period / 2, period, np.ptp(x[at:at + length])))
            begin += period
        for a, b in zip(cycles, cycles[1:]):
            result.append(((a[0] + b[0]) / 2, abs(a[1] - b[1]) / ((a[1] + b[1]) / 2), abs(20 * np.log10(b[2] / a[2]))))
        t = end
    return np.array(result).reshape(-1, 3)


def describe(x, rate):
    window, hop = samples_of(0.025, rate), samples_of(0.010, rate)
    size = 2 ** int(np.ceil(np.log2(window)))
    starts = np.arange(0, len(x) - window + 1, hop)
    centres = starts + window // 2
    f0, strength, best = pitch(x, rate, centres)
    changes = perturbations(x, rate, f0, centres, hop)
    raw = x[starts[:, None] + np.arange(window)]
    kept = np.nonzero(np.ptp(raw, axis=1) > 0)[0]
    frames = raw[kept] - raw[kept].mean(1, keepdims=True)
    frames *= np.sqrt(0.0025 / (frames**2).mean())
    taper = np.hamming(window)
    power = np.abs(np.fft.rfft(frames * taper, size)) ** 2 / (taper**2).sum()
    bands = power @ filters(26, size, rate).T
    top = int(8000 / rate * size + 1e-9) + 1
    p, f = power[:, :top], np.arange(top) * rate / size
    d = {"level_db": 10 * np.log10((frames**2).mean(1) + LEAST)}
    w2 = (2 * np.pi * corners(26)[1:-1]) ** 2
    equal = (w2 + 56.8e6) * w2**2 / ((w2 + 6.3e6) ** 2 * (w2 + 0.38e9))
    d["loudness"] = ((bands * equal / equal.max()) ** 0.33).sum(1)
    d["loudness"] /= d["loudness"].mean()
    d["zero_crossings"] = np.abs(np.diff(frames >= 0, axis=1)).mean(1) * rate
    share = p / (p.sum(1, keepdims=True) + LEAST)
    d["centroid"] = share @ f
    d["spread"] = np.sqrt((share * (f - d["centroid"][:, None]) ** 2).sum(1))
    d["entropy"] = scipy.special.entr(share).sum(1) / np.log(2)
    cumulated = np.cumsum(p, axis=1)
    for part in (25, 75, 90):
        d[f"rolloff_{part}"] = f[(cumulated >= part / 100 * cumulated[:, -1:]).argmax(1)]
    amplitude = np.sqrt(p) / (np.sqrt(p).sum(1, keepdims=True) + LEAST)
    d["flux"] = np.concatenate([[0], np.linalg.norm(np.diff(amplitude, axis=0), axis=1)])
    level = 10 * np.log10(p + LEAST)
    for low, high in ((0, 500), (500, 1500), (0, 5000)):
        m = (f >= low) & (f <= high)
        d[f"slope_{low}_{high}"] = 1000 * np.polyfit(f[m], level[:, m].T, 1)[0]
    within = lambda low, high: (f >= low) & (f < high)
    d["alpha_ratio"] = 10 * np.log10((p[:, within(50, 1000)].sum(1) + LEAST) / (p[:, within(1000, 5000)].sum(1) + LEAST))
    d["hammarberg"] = level[:, within(0, 2000)].max(1) - level[:, within(2000, 5000)].max(1)
    d["flatness"] = np.log(p + LEAST).mean(1) - np.log(p.mean(1) + LEAST)
    d["periodicity"] = np.clip(best[kept], 0, 1)
    voiced = f0[kept] > 0
    undefined = lambda values: np.where(voiced, values, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        d["f0"] = undefined(12 * np.log2(f0[kept] / 27.5))
    r = np.clip(strength[kept], 1e-6, 1 - 1e-6)
    d["hnr"] = undefined(10 * np.log10(r / (1 - r)))
    for column, name in ((1, "jitter"), (2, "shimmer")):
        near = [np.abs(changes[:, 0] - centre) <= 0.03 * rate for centre in centres[kept]]
        d[name] = undefined([changes[m, column].mean() if m.any() else np.nan for m in near])
    fine = 10 * np.log10(np.abs(np.fft.rfft(frames * taper, 4 * size)) ** 2 / (taper**2).sum() + LEAST)
    bin_hz = rate / (4 * size)
    highest = lambda i, low, high: fine[i, int(low / bin_hz):int(np.floor(high / bin_hz)) + 1].max()
    d["h1_h2"], d["h1_high"] = np.full(len(kept), np.nan), np.full(len(kept), np.nan)
    for i in np.nonzero(voiced)[0]:
        tone = f0[kept][i]
        first = highest(i, 0.8 * tone, 1.2 * tone)
        d["h1_h2"][i] = first - highest(i, 1.8 * tone, 2.2 * tone)
        d["h1_high"][i] = first - highest(i, 2000, 4000)
    logs = np.log(bands + 1e-9)
    cepstra = scipy.fft.dct(logs, type=2, norm="ortho", axis=1)
    d |= {f"c{i}": cepstra[:, i] for i in range(1, 15)} | {
        f"band_{i + 1}": logs[:, i] - d["level_db"].mean() * np.log(10) / 10 for i in range(1, 26, 3)}
    return d, voiced, hop / rate


def distribution(a):
    a = a[~np.isnan(a)]
    names = ["mean", "sd", "skewness", "kurtosis", "p5", "p20", "p50", "p80", "p95", "p80_less_p20", "p95_less_p5"]
    if len(a) < 3:
        return dict.fromkeys(names, np.nan)
    q = np.percentile(a, [5, 20, 50, 80, 95])
    varies = a.std() > 1e-12
    return dict(zip(names, [a.mean(), a.std(), scipy.stats.skew(a) if varies else 0,
                            scipy.stats.kurtosis(a, fisher=False) if varies else 0, *q, q[3] - q[1], q[4] - q[0]]))


def trend(a):
    i = np.nonzero(~np.isnan(a))[0]
    if len(i) < 5:
        return dict.fromkeys(["slope", "curvature", "residual_sd"], np.nan)
    t = 2 * (i - i[0]) / (i[-1] - i[0]) - 1
    line = np.polyfit(t, a[i], 1)
    return {"slope": line[0], "curvature": np.polyfit(t, a[i], 2)[0], "residual_sd": (a[i] - np.polyval(line, t)).std()}


def movement(a):
    a = a[~np.isnan(a)]
    names = ["step", "rise", "fall", "rising_share", "peak_rate", "peak_height", "valley_depth"]
    if len(a) < 4:
        return dict.fromkeys(names, np.nan)
    mean = lambda x: x.mean() if len(x) else 0
    d = np.diff(a)
    s = np.convolve(a, np.ones(3), "same") / np.convolve(np.ones(len(a)), np.ones(3), "same")
    inner = s[1:-1]
    peaks = inner[(inner > s[:-2]) & (inner >= s[2:]) & (inner > s.mean())] - s.mean()
    valleys = inner[(inner < s[:-2]) & (inner <= s[2:]) & (inner < s.mean())] - s.mean()
    return dict(zip(names, [np.abs(d).mean(), mean(d[d > 0]), mean(d[d < 0]), (d > 0).mean(), len(peaks) / len(a),
                            mean(peaks), mean(valleys)]))


def delta(a):
    result, i = np.full(len(a), np.nan), 0
    while i < len(a):
        if np.isnan(a[i]):
            i += 1
            continue
        end = i
        while end < len(a) and not np.isnan(a[end]):
            end += 1
        p = np.pad(a[i:end], 2, mode="edge")
        result[i:end] = (p[3:-1] - p[1:-3] + 2 * (p[4:] - p[:-4])) / 10
        i = end
    return result


def functionals(d, voiced, hop):
    row = {}
    for name in LEVEL + VOICE + CEPSTRAL:
        a = d[name]
        parts = distribution(a) | trend(a) | movement(a) | {"delta_" + k: v for k, v in distribution(delta(a)).items()}
        if name not in VOICE:
            for which, m in (("voiced", voiced), ("unvoiced", ~voiced)):
                parts |= {which + "_mean": a[m].mean() if m.sum() >= 3 else np.nan,
                          which + "_sd": a[m].std() if m.sum() >= 3 else np.nan}
        if name == "loudness":
            del parts["mean"]  # always 1
        row |= {f"{name}.{k}": v for k, v in parts.items()}
    edges = np.diff(np.concatenate([[0], voiced.astype(int), [0]]))
    begins, ends = np.nonzero(edges > 0)[0], np.nonzero(edges < 0)[0]
    stretches, gaps = (ends - begins) * hop, (begins[1:] - ends[:-1]) * hop
    row |= {"time.duration": len(voiced) * hop, "time.voiced_share": voiced.mean(),
            "time.stretch_rate": len(begins) / (len(voiced) * hop)}
    for name, x in (("stretch", stretches), ("gap", gaps)):
        row |= {f"time.{name}_mean": x.mean() if len(x) else 0, f"time.{name}_sd": x.std() if len(x) else 0}
    return row


def short(values):
    return [None if np.isnan(v) else float(f"{v:.9g}") for v in values]


def main():
    if len(sys.argv) > 1:
        for i, name in enumerate(sys.argv[1:]):
            rate, x = scipy.io.wavfile.read(name)
            row = functionals(*describe(x / 32768, rate))
            if i == 0:
                print("utterance," + ",".join(row))
            print(os.path.splitext(os.path.basename(name))[0] + "," + ",".join(
                "" if np.isnan(v) else repr(float(v)) for v in row.values()))
        return
    signals = []
    for rate in (16000, 22050):
        d, voiced, hop = describe(synthetic_voice(rate), rate)
        row = functionals(d, voiced, hop)
        shown = [0, 12, 30, 46, 70]
        signals.append({"sample_rate": rate, "num_frames": len(voiced), "voiced": int(voiced.sum()), "names": list(row),
                        "functionals": short(row.values()), "descriptors": LEVEL + VOICE + CEPSTRAL,
                        "frames": {str(t): short([d[k][t] for k in LEVEL + VOICE + CEPSTRAL]) for t in shown}})
        if rate != 16000:
            del signals[-1]["names"], signals[-1]["descriptors"]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "functionals.json"), "w", encoding="utf-8") as file:
        json.dump(signals, file, separators=(",", ":"))
        file.write("\n")


main()
