"""Computes MFCCs by python_speech_features 0.6, librosa 0.11 and NumPy. Writes mfcc.json, which mfcc_test reads.

Needs numpy, scipy, python_speech_features, librosa, soundfile.

    make_mfcc.py EMODB                 mfcc.json: some frames of a synthetic signal and of four files of EMO-DB
    make_mfcc.py EMODB --every DIR     DIR/<preset>/<file>.f64: all frames of all files of EMODB; mfcc_test
                                       compares them if EMOMC_MFCC_REFERENCE is DIR
"""
import json
import os
import sys

import librosa
import numpy as np
import python_speech_features
import scipy.fft
import scipy.signal
import soundfile

EPS = np.finfo(float).eps
QUIET = 1e-7


def synthetic(rate):
    """Returns one second in 16 bits: a chirp, a tone and noise, with digital silence between 0.4 and 0.65 s."""
    noise, state = np.empty(rate), 1
    for n in range(rate):
        state = (state * 1664525 + 1013904223) % 2**32
        noise[n] = state / 2**32 - 0.5
    t = np.arange(rate) / rate
    slope = 0.45 * rate - 100
    x = 0.4 * np.sin(2 * np.pi * (100 * t + slope * t * t / 2)) + 0.1 * np.sin(2 * np.pi * 220 * t) + 0.02 * noise
    x[(t >= 0.4) & (t < 0.65)] = 0
    return np.floor(x * 32767 + 0.5) / 32768


def by_python_speech_features(x, rate, window_ms=25, hop_ms=10, num_filters=26, num_coefficients=13, lifter=22,
                              preemphasis=0.97, low_hz=0, high_hz=0, fft_size=0, window="rectangular",
                              first="log_energy"):
    if fft_size == 0:  # calculate_nfft of later versions; 512 would cut windows of 25 ms off above 20480 Hz
        fft_size = 1
        while fft_size < window_ms * rate / 1000:
            fft_size *= 2
    winfunc = {"rectangular": np.ones, "hamming": np.hamming, "hann": np.hanning}[window]
    return python_speech_features.mfcc(
        x, rate, window_ms / 1000, hop_ms / 1000, num_coefficients, num_filters, fft_size, low_hz, high_hz or None,
        preemphasis, lifter, first == "log_energy", winfunc)


def by_librosa(x, rate, window_samples=2048, hop_samples=512, fft_size=0, num_filters=128, num_coefficients=13,
               low_hz=0, high_hz=0, mel="slaney", height="area", power="power", top_db=80):
    y = librosa.feature.melspectrogram(
        y=x, sr=rate, n_fft=fft_size or window_samples, hop_length=hop_samples, win_length=window_samples,
        n_mels=num_filters, fmin=low_hz, fmax=high_hz or None, htk=mel == "htk",
        norm="slaney" if height == "area" else None, power={"power": 2, "magnitude": 1}[power])
    return librosa.feature.mfcc(S=librosa.power_to_db(y, top_db=top_db or None), n_mfcc=num_coefficients).T


def by_numpy(x, rate, window_ms=25, hop_ms=10, preemphasis=0.97, window="hamming", periodic_window=False, fft_size=0,
             framing="drop_last", power="power_over_fft_size", num_filters=26, low_hz=0, high_hz=0, mel="htk",
             height="one", num_coefficients=13, lifter=22, first="cepstrum"):
    """Computes MFCCs with the program's own settings, implemented independently; filters, windows and DCT come
    from librosa and SciPy."""
    length, hop = (int(np.floor(ms * rate / 1000 + 0.5)) for ms in (window_ms, hop_ms))
    fft_size = fft_size or 2 ** int(np.ceil(np.log2(length)))
    x = np.append(x[0], x[1:] - preemphasis * x[:-1])
    if framing == "centred":
        starts = range(0, len(x) + 1, hop)
        x = np.concatenate([np.zeros((length + 1) // 2), x, np.zeros(length)])
    elif framing == "pad_last":
        starts = range(0, max(len(x) - length, 0) + hop, hop)
        starts = [s for i, s in enumerate(starts) if i == 0 or s - hop + length < len(x)]
        x = np.concatenate([x, np.zeros(length)])
    else:
        starts = range(0, len(x) - length + 1, hop)
    name = {"rectangular": "boxcar"}.get(window, window)
    taper = scipy.signal.get_window(name, length, fftbins=periodic_window)
    spectra = np.abs(np.fft.rfft([x[s:s + length] * taper for s in starts], fft_size))
    energies = {"magnitude": spectra, "power": spectra**2, "power_over_fft_size": spectra**2 / fft_size}[power]
    filters = librosa.filters.mel(sr=rate, n_fft=fft_size, n_mels=num_filters, fmin=low_hz, fmax=high_hz or None,
                                  htk=mel == "htk", norm="slaney" if height == "area" else None, dtype=np.float64)
    levels = np.log(np.maximum(energies @ filters.T, EPS))
    cepstra = scipy.fft.dct(levels, type=2, norm="ortho", axis=1)[:, :num_coefficients]
    if lifter:
        cepstra = cepstra * (1 + lifter / 2 * np.sin(np.pi * np.arange(num_coefficients) / lifter))
    if first == "log_energy":
        cepstra[:, 0] = np.log(np.maximum(energies.sum(axis=1), EPS))
    return cepstra


def reference(preset, x, rate, settings):
    if preset == "thesis":
        return by_python_speech_features(x, rate, **({"window_ms": 20, "num_filters": 17} | settings))
    return {"python_speech_features": by_python_speech_features, "librosa": by_librosa, "emomc": by_numpy}[preset](
        x, rate, **settings)


PRESETS = ["emomc", "python_speech_features", "librosa", "thesis"]
VARIANTS = [
    ("python_speech_features", {"window_ms": 32, "hop_ms": 16, "lifter": 0}),
    ("python_speech_features", {"first": "cepstrum", "window": "hamming", "preemphasis": 0, "num_coefficients": 20}),
    ("python_speech_features", {"low_hz": 300, "high_hz": 3400, "num_filters": 20, "window": "hann"}),
    ("python_speech_features", {"fft_size": 2048, "num_filters": 40, "num_coefficients": 26}),
    ("thesis", {"window_ms": 40}),
    ("librosa", {"window_samples": 1024, "hop_samples": 256, "num_filters": 40, "num_coefficients": 20}),
    ("librosa", {"window_samples": 401, "hop_samples": 160, "fft_size": 1024, "num_filters": 40, "mel": "htk",
                 "height": "one", "top_db": 0}),
    ("librosa", {"low_hz": 80, "high_hz": 7000, "power": "magnitude", "num_filters": 64, "top_db": 50}),
    ("emomc", {"window_ms": 40, "hop_ms": 20, "mel": "slaney", "height": "area"}),
    ("emomc", {"window": "hann", "periodic_window": True, "framing": "pad_last", "power": "magnitude", "lifter": 12}),
    ("emomc", {"framing": "centred", "low_hz": 100, "high_hz": 6000, "num_filters": 20, "first": "log_energy"}),
]


def case(signal, preset, x, rate, settings):
    c = reference(preset, x, rate, settings)
    rows = sorted({0, 1, len(c) // 4, len(c) // 2, len(c) - 2, len(c) - 1})
    digits = lambda values: [float(f"{v:.9g}") for v in values]
    return {"signal": signal, "sample_rate": rate, "preset": preset, "settings": settings, "num_frames": len(c),
            "sd": digits(c.std(axis=0)), "frames": {str(r): digits(c[r]) for r in rows}}


def main():
    corpus = sys.argv[1]
    if len(sys.argv) > 3 and sys.argv[2] == "--every":
        for preset in PRESETS:
            os.makedirs(os.path.join(sys.argv[3], preset), exist_ok=True)
            for name in sorted(os.listdir(corpus)):
                x, rate = soundfile.read(os.path.join(corpus, name))
                reference(preset, x, rate, {}).astype("<f8").tofile(
                    os.path.join(sys.argv[3], preset, name[:-4] + ".f64"))
        return
    cases = []
    for rate in (16000, 22050):
        x = synthetic(rate)
        cases += [case("synthetic", preset, x, rate, {}) for preset in PRESETS]
        cases += [case("synthetic", preset, x, rate, settings) for preset, settings in VARIANTS]
    # This signal has filter outputs below the floor, which python_speech_features handles in its own way.
    x = synthetic(16000) * QUIET
    cases += [case("quiet", preset, x, 16000, {}) for preset in PRESETS if preset != "librosa"]
    # The last three files have stretches of digital silence.
    for name in ("03a01Fa.wav", "08b01Wa.wav", "10a02Na.wav", "12a01Lb.wav"):
        x, rate = soundfile.read(os.path.join(corpus, name))
        cases += [case("emodb/" + name, preset, x, rate, {}) for preset in PRESETS]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mfcc.json"), "w") as file:
        file.write("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "]\n")


main()
