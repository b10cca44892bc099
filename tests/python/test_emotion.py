"""Tests that Classifier and evaluate give the numbers of the program, bit for bit, on synthetic recordings."""

import csv
import json
import pathlib
import pickle
import subprocess
import threading
import wave

import emomc
import numpy as np
import pytest

RATE = 16000
EMOTIONS = ("sad", "glad", "cross")
OPTIONS = {"prior_sds": (1, 6), "chains": 2, "warmup": 40, "draws": 80, "n_threads": 1}


def voice(emotion, speaker, take):
    """Returns samples of 16 bits: a "sad" voice falls and is quiet, a "glad" one rises, a "cross" one is loud and
    rough."""
    rng = np.random.default_rng([emotion, speaker, take])
    t = np.arange(RATE // 2) / RATE
    base, slope = 100 + 30 * speaker + 4 * take, (-20, 40, 5)[emotion]
    x = sum(
        np.sin(2 * np.pi * h * (base * t + slope * t**2)) / (1 if emotion == 2 else h)
        for h in range(1, 7)
    )
    noise = (0.1, 0.1, 0.8)[emotion] * (rng.random(len(t)) - 0.5)
    return np.clip(np.round(32767 * (0.05, 0.12, 0.25)[emotion] * (0.4 * x + noise)), -32768, 32767).astype(np.int16)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Returns a folder of recordings, and the result of `list_corpus` for it with the samples."""
    folder = tmp_path_factory.mktemp("emotion")
    for speaker in range(1, 5):
        for take in range(2):
            for emotion, name in enumerate(EMOTIONS):
                file = folder / "corpus" / name / f"s{speaker}" / f"take{take}.wav"
                file.parent.mkdir(parents=True, exist_ok=True)
                write(file, voice(emotion, speaker, take))
    found = emomc.list_corpus("folders", folder / "corpus")
    samples = [read(file) for file in found.recordings]
    (folder / "config.yaml").write_text(
        "corpus: {kind: folders, path: corpus}\noutput: {directory: run}\nthreads: 1\n"
        "softmax: {prior_sds: [1, 6], chains: 2, warmup: 40, draws: 80}\n"
    )
    return folder, found, samples


def write(file, samples):
    with wave.open(str(file), "wb") as out:
        out.setparams((1 if samples.ndim == 1 else samples.shape[1], 2, RATE, 0, "NONE", ""))
        out.writeframes(samples.astype("<i2").tobytes())


def read(file):
    with wave.open(file) as given:
        return np.frombuffer(given.readframes(given.getnframes()), dtype="<i2")


def run(program, folder, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def trained(corpus):
    _, found, samples = corpus
    classifier = emomc.Classifier(**OPTIONS)
    assert (
        classifier.fit(
            samples, found.labels, found.speakers, names=found.names, sampling_rate=RATE, progress=False
        )
        is classifier
    )
    return classifier


def test_evaluate_has_the_programs_numbers(corpus, program):
    folder, found, samples = corpus
    run(program, folder, "evaluate", "config.yaml", "-q")
    stages = []
    got = emomc.evaluate(
        emomc.Classifier(**OPTIONS),
        samples,
        found.labels,
        found.speakers,
        names=found.names,
        sampling_rate=RATE,
        progress=lambda stage, done, all_: stages.append((stage, done, all_)),
    )
    scores = json.loads((folder / "run/scores.json").read_text())
    del scores["seconds"]
    assert got.scores == scores
    assert got.uar == scores["posterior"]["uar"] > 0.6
    for file, p in (("predictions.csv", got.probabilities), ("predictions_penalised.csv", got.penalised)):
        with open(folder / "run" / file, newline="") as lines:
            rows = list(csv.DictReader(lines))
        assert [row["utterance"] for row in rows] == got.names
        assert [row["truth"] for row in rows] == got.truth
        assert [row["speaker"] for row in rows] == got.speakers
        assert (p == [[float(row[f"p_{name}"]) for name in got.classes] for row in rows]).all()
    with open(folder / "run/probability_sd.csv", newline="") as lines:
        sd = [[float(row[f"sd_{name}"]) for name in got.classes] for row in csv.DictReader(lines)]
    assert (got.sd == sd).all()
    assert list(got.columns()) == ["utterance", "speaker", "truth", "predicted", "p_cross", "p_glad", "p_sad"]
    assert stages[0] == ("features", 0, 24) and {s for s, _, _ in stages} > {"features", "posteriors"}


def test_folds_and_groups_of_a_file_are_the_programs(corpus, program):
    folder, found, samples = corpus
    speakers = sorted(set(found.speakers))
    (folder / "speakers.csv").write_text(
        "speaker,part,gender\n" + "".join(f"{s},{'ab'[i % 2]},{'fm'[i // 2]}\n" for i, s in enumerate(speakers))
    )
    table = {"file": folder / "speakers.csv", "column": "part"}
    by = {"columns": ["gender"], "file": str(folder / "speakers.csv")}

    def evaluate(**more):
        return emomc.evaluate(emomc.Classifier(**OPTIONS), samples, found.labels, found.speakers, names=found.names,
                              sampling_rate=RATE, progress=False, **more)  # fmt: skip

    for test in ([], ["b"]):
        folds = f"{{file: speakers.csv, column: part{', test: [b]' if test else ''}}}"
        (folder / "parts.yaml").write_text(
            (folder / "config.yaml").read_text().replace("directory: run", f"directory: parts{len(test)}")
            + f"folds: {folds}\nby: {{columns: [gender], file: speakers.csv}}\n"
        )
        run(program, folder, "evaluate", "parts.yaml", "-q")
        scores = json.loads((folder / f"parts{len(test)}/scores.json").read_text())
        del scores["seconds"]
        got = evaluate(folds=table | ({"test": test} if test else {}), by=by)
        assert got.scores == scores
        assert got.scores["fold_names"] == (test or ["a", "b"])
        assert [row["value"] for row in got.scores["posterior"]["by"][0]["values"]] == ["f", "m"]
        assert len(got.names) == 12 * (2 - len(test))
        assert any(note.startswith("folds: by part of ") for note in got.notes)
    for more, words in (
        ({"folds": {"column": "part"}}, 'folds: "file" is missing'),
        ({"folds": {"file": "x.csv", "tests": ["b"]}}, "folds: 'tests' is unknown; allowed: file, column, test"),
        ({"folds": table | {"column": "sex"}}, "sex"),
        ({"folds": table | {"test": ["c"]}}, "folds.test: no recording has part c; found: a, b"),
        ({"folds": table | {"test": "b"}}, "folds.test: 'b'; allowed: a list"),
        ({"folds": "a"}, "folds: 'a'; allowed: None, a number, a list of speakers"),
        ({"by": "gender"}, "by: 'gender'; allowed: "),
        ({"by": {"file": "speakers.csv"}}, "by.columns: none"),
        ({"by": {"columns": ["gender"]}}, 'by: "file" is missing'),
        ({"by": {"columns": ["gender"], "file": folder / "none.csv"}}, "none.csv"),
    ):
        with pytest.raises(emomc.InputError, match=words):
            evaluate(**more)


def test_the_classifier_is_the_programs(corpus, program, trained, tmp_path):
    folder, found, samples = corpus
    run(program, folder, "train", "config.yaml", "-o", "model", "-q")
    trained.save(tmp_path / "saved")
    for name in ("draws.npy", "rotation.npy"):
        assert (tmp_path / "saved" / name).read_bytes() == (folder / "model" / name).read_bytes()
    ours, theirs = (json.loads((at / "model.json").read_text()) for at in (tmp_path / "saved", folder / "model"))
    for key in ("config", "trained_on"):
        mine, other = ours.pop(key), theirs.pop(key)
        if key == "trained_on":
            assert mine == other | {"corpus": ""}
    assert ours == theirs
    # A new speaker, whom the models were not trained on, is classified by each program's model in the other program.
    new = [voice(emotion, 6, take) for take in range(4) for emotion in range(3)]
    files = []
    for i, one in enumerate(new):
        files.append(str(folder / f"new{i}.wav"))
        write(files[-1], one)
    lines = [json.loads(line) for line in run(program, folder, "classify", str(tmp_path / "saved"), "-q", *files).splitlines()]
    loaded = emomc.Classifier.load(folder / "model")
    for classifier, X, rate in ((loaded, new, RATE), (trained, files, None)):
        mean, sd = classifier.predict_proba(X, sampling_rate=rate, return_std=True)
        assert (mean == [[line["probabilities"][name] for name in classifier.classes_] for line in lines]).all()
        assert (sd == [[line["sd"][name] for name in classifier.classes_] for line in lines]).all()
    few = [json.loads(line) for line in run(program, folder, "classify", "model", "-q", *files[:2]).splitlines()]
    assert (loaded.predict_proba(new[:2], sampling_rate=RATE)[:, 0] == [f["probabilities"]["cross"] for f in few]).all()
    by = run(program, folder, "classify", "model", files[0], "-q", "--speaker-from", *files[1:4])
    p = loaded.predict_proba(new[:1], sampling_rate=RATE, enrolment=new[1:4])
    assert p[0, 2] == json.loads(by)["probabilities"]["sad"]


def test_recordings_are_arrays_of_many_kinds(trained):
    samples = [voice(0, 6, 0), voice(2, 6, 1)]
    want = trained.predict_proba(samples, sampling_rate=RATE)
    floats = [x / 32768 for x in samples]
    stereo = [np.stack([x, x], axis=1) for x in floats]
    for X in (floats, stereo, np.array(floats), [x.astype(np.int32) * 65536 for x in samples]):
        assert (trained.predict_proba(X, sampling_rate=[RATE, RATE]) == want).all()
    two = trained.predict_proba(samples + floats, sampling_rate=RATE, speakers=["a", "a", "b", "b"])
    assert (two == np.concatenate([want, want])).all()
    assert trained.predict(samples, sampling_rate=RATE).tolist() == trained.classes_[want.argmax(axis=1)].tolist()


@pytest.mark.parametrize(
    "change, words",
    [
        ({"X": [np.zeros(9000)]}, ["X[0]", "silent"]),
        ({"X": [np.full((2, 9000), 0.1)]}, ["2 samples of 9000 channels", "samples x channels"]),
        ({"X": [np.stack([np.sin(np.arange(9000.0)), -np.sin(np.arange(9000.0))], axis=1)]}, ["opposite phase"]),
        ({"X": [np.sin(np.arange(9000.0)) * 2000]}, ["full scale"]),
        ({"X": [np.array([0.0, np.nan, 0.5])]}, ["sample 2", "finite"]),
        ({"X": [np.sin(np.arange(9000.0))], "sampling_rate": None}, ["sampling_rate="]),
        ({"X": [np.sin(np.arange(9000.0))], "sampling_rate": 8000}, ["8000", "16"]),
        ({"X": [np.arange(9000, dtype=np.uint8)]}, ["uint8"]),
        ({"X": ["nowhere.wav"]}, ["nowhere.wav", "no such file"]),
        ({"X": np.sin(np.arange(9000.0))}, ["0 axes"]),
        ({"X": "one.wav"}, ["a list of recordings"]),
        ({"X": []}, ["no recordings"]),
        ({"X": [np.sin(np.arange(9000.0))], "speakers": []}, ["speakers", "0 of 1"]),
    ],
)
def test_refusals_of_recordings(trained, change, words):
    options = {"X": [voice(0, 6, 0)], "sampling_rate": RATE} | change
    with pytest.raises(emomc.InputError) as refused:
        trained.predict_proba(options.pop("X"), **options)
    for word in words:
        assert word in str(refused.value)


def test_refusals_of_labels_and_options(corpus, trained, tmp_path):
    _, found, samples = corpus
    fit = emomc.Classifier(**OPTIONS).fit
    with pytest.raises(emomc.InputError, match="y: 1 of 24 recordings"):
        fit(samples, ["sad"], found.speakers, sampling_rate=RATE)
    with pytest.raises(emomc.InputError, match="y: numbers, and Classifier predicts classes"):
        fit(samples, [0.5] * 24, found.speakers, sampling_rate=RATE)
    with pytest.raises(emomc.InputError, match="the same sound as"):
        fit(samples + samples[:1], found.labels + ["sad"], found.speakers + ["s1"], sampling_rate=RATE)
    with pytest.raises(emomc.InputError, match="'a' occurs twice"):
        fit(samples, found.labels, found.speakers, names=["a"] * 24, sampling_rate=RATE)
    with pytest.raises(emomc.InputError, match="chains: 1 is out of range; allowed: 2 to"):
        emomc.Classifier(chains=1).fit(samples, found.labels, found.speakers, sampling_rate=RATE)
    with pytest.raises(emomc.InputError, match="no utterance is angry"):
        emomc.Classifier(classes=["angry", "sad"]).fit(samples, found.labels, found.speakers, sampling_rate=RATE)
    with pytest.raises(emomc.InputError, match="there is no speaker s9"):
        emomc.evaluate(trained, samples, found.labels, found.speakers, sampling_rate=RATE, folds=["s9"])
    with pytest.raises(emomc.InputError, match="not fitted|has a model|no model"):
        emomc.Classifier.load(tmp_path)
    trained.save(tmp_path / "model")
    with pytest.raises(emomc.InputError, match="has a model"):
        trained.save(tmp_path / "model")
    trained.save(tmp_path / "model", overwrite=True)


def test_the_horseshoe_has_the_programs_numbers(corpus, program, tmp_path):
    folder, found, samples = corpus
    run(program, folder, "evaluate", "config.yaml", "-q", "--output", "horseshoe", "--set", "softmax.prior=horseshoe")
    classifier = emomc.Classifier(prior="horseshoe", **OPTIONS)
    got = emomc.evaluate(
        classifier, samples, found.labels, found.speakers, names=found.names, sampling_rate=RATE, progress=False
    )
    scores = json.loads((folder / "horseshoe/scores.json").read_text())
    del scores["seconds"]
    assert got.scores == scores
    assert scores["prior"] == "horseshoe" and scores["functionals"]["set"] == "compact"
    classifier.fit(samples, found.labels, found.speakers, sampling_rate=RATE, progress=False)
    assert classifier.prior_sd_weights_ == {}
    classifier.save(tmp_path / "model")
    loaded = emomc.Classifier.load(tmp_path / "model")
    assert loaded.prior == "horseshoe" and loaded.functionals == "compact"
    p = classifier.predict_proba(samples[:6], sampling_rate=RATE)
    assert (loaded.predict_proba(samples[:6], sampling_rate=RATE) == p).all()
    assert repr(emomc.Classifier(prior="horseshoe")) == "emomc.Classifier('compact')"
    for options, what in (
        ({"functionals": "full"}, "full has 1638"),
        ({"relevant_share": 1.0}, "relevant_share: 1.0 is out of range; allowed: above 0 and below 1"),
        ({"slab_scale": 0}, "slab_scale: 0 is out of range"),
    ):
        with pytest.raises(emomc.InputError, match=what):
            emomc.Classifier(prior="horseshoe", **options).fit(samples, found.labels, found.speakers, sampling_rate=RATE)
    with pytest.raises(emomc.InputError, match="prior: lasso is unknown; allowed: ridge, horseshoe"):
        emomc.Classifier(prior="lasso").fit(samples, found.labels, found.speakers, sampling_rate=RATE)


def test_an_exception_of_progress_ends_the_work(corpus):
    _, found, samples = corpus

    def stop(stage, done, all_):
        if stage != "features":
            raise RuntimeError(stage)

    with pytest.raises(RuntimeError, match="penalised fits"):
        emomc.evaluate(
            emomc.Classifier(**OPTIONS), samples, found.labels, found.speakers, sampling_rate=RATE, progress=stop
        )


def test_scikit_learns_manners(trained):
    base = pytest.importorskip("sklearn.base")
    again = base.clone(trained)
    assert again.get_params() == trained.get_params() and not hasattr(again, "classes_")
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        again.predict([voice(0, 1, 0)], sampling_rate=RATE)
    with pytest.raises(ValueError, match="no parameter of Classifier"):
        again.set_params(depth=3)
    assert again.set_params(chains=3).chains == 3


def test_a_fitted_classifier_is_saved_and_not_pickled(trained):
    assert pickle.loads(pickle.dumps(emomc.Classifier(chains=3))).chains == 3
    with pytest.raises(TypeError, match="a fitted Classifier cannot be pickled; use its methods save and load"):
        pickle.dumps(trained)


def test_scikit_learn_knows_the_kinds_of_estimators():
    base = pytest.importorskip("sklearn.base")
    if not hasattr(pytest.importorskip("sklearn.utils"), "Tags"):
        pytest.skip("scikit-learn before 1.6 has no tags of estimators")
    assert base.is_classifier(emomc.Classifier()) and not base.is_regressor(emomc.Classifier())
    assert base.is_regressor(emomc.Regressor()) and not base.is_classifier(emomc.Regressor())


def test_labels_can_be_an_iterator(corpus):
    _, found, samples = corpus
    options = {"sampling_rate": RATE, "progress": False}
    classifier = emomc.Classifier("prosody", prior_sds=[1], chains=2, warmup=20, draws=20, n_threads=1)
    p = [
        classifier.fit(samples, labels, speakers, **options).predict_proba(samples[:3], sampling_rate=RATE)
        for labels, speakers in ((found.labels, found.speakers), (iter(found.labels), iter(found.speakers)))
    ]
    np.testing.assert_array_equal(*p)
