"""Regressor: the numbers of the program, bit for bit, on synthetic recordings."""

import csv
import json
import pathlib

import emomc
import numpy as np
import pytest

from test_emotion import EMOTIONS, RATE, read, run, voice, write

DIMENSIONS = ["arousal", "valence"]


def numbers(emotion, speaker, take):
    """Arousal and valence; speakers and takes differ by what no functional says."""
    noise = 0.1 * ((7 * speaker + 5 * take + 3 * emotion) % 4)
    return 1 + 1.5 * emotion + noise, (4 if emotion == 1 else 1.5) - noise


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A folder with recordings, a manifest of them and a configuration; paths, samples, numbers and speakers."""
    folder = tmp_path_factory.mktemp("regression")
    paths, samples, y, speakers, rows = [], [], [], [], []
    for speaker in range(1, 5):
        for take in range(2):
            for emotion in range(len(EMOTIONS)):
                name = f"s{speaker}_{take}_{emotion}.wav"
                write(folder / name, voice(emotion, speaker, take))
                paths.append(str(folder / name))
                samples.append(read(paths[-1]))
                y.append(numbers(emotion, speaker, take))
                speakers.append(f"s{speaker}")
                rows.append(f"{name},s{speaker},{y[-1][0]!r},{y[-1][1]!r}\n")
    (folder / "corpus.csv").write_text("path,speaker,arousal,valence\n" + "".join(rows))
    (folder / "config.yaml").write_text(
        "corpus: {kind: manifest, path: corpus.csv, dimensions: [arousal, valence]}\nthreads: 1\n"
    )
    return folder, paths, samples, np.array(y), speakers


@pytest.fixture(scope="module")
def trained(corpus):
    """Of samples in memory."""
    _, paths, samples, y, speakers = corpus
    regressor = emomc.Regressor(n_threads=1)
    names = [pathlib.Path(path).stem for path in paths]
    columns = {name: y[:, d] for d, name in enumerate(DIMENSIONS)}
    assert regressor.fit(samples, columns, speakers, names=names, sampling_rate=RATE, progress=False) is regressor
    return regressor


@pytest.fixture(scope="module")
def model(corpus, program):
    """The program's model directory."""
    run(program, corpus[0], "train", "config.yaml", "-o", "model", "-q")
    return corpus[0] / "model"


def expect_lines(text, predicted, intervals):
    """What `emomc classify` prints."""
    lines = [json.loads(line) for line in text.splitlines()]
    for d, name in enumerate(DIMENSIONS):
        np.testing.assert_array_equal(predicted[0][:, d], [line[name]["mean"] for line in lines])
        np.testing.assert_array_equal(predicted[1][:, d], [line[name]["sd"] for line in lines])
        np.testing.assert_array_equal(intervals[:, d], [line[name]["interval_90"] for line in lines])


def test_the_regressor_is_the_programs(model, trained, tmp_path):
    trained.save(tmp_path / "saved")
    for name in ("weights.npy", "rotation.npy"):
        assert (tmp_path / "saved" / name).read_bytes() == (model / name).read_bytes()
    ours, theirs = (json.loads((at / "model.json").read_text()) for at in (tmp_path / "saved", model))
    assert ours.pop("config") == "" and theirs.pop("config") != ""
    assert ours.pop("trained_on") == theirs.pop("trained_on") | {"corpus": ""}
    assert ours == theirs
    assert trained.dimensions_.tolist() == DIMENSIONS and trained.sampling_rate_ == RATE
    assert trained.prior_sd_.tolist() == [one["prior_sd"] for one in theirs["dimensions"]]
    assert trained.noise_sd_.tolist() == [one["noise_sd"] for one in theirs["dimensions"]]
    assert trained.sd_factor_.tolist() == [one["sd_factors"]["own"]["factor"] for one in theirs["dimensions"]]


def test_predictions_are_those_of_the_program(corpus, program, model, trained, tmp_path):
    """Of a speaker whom the model does not know, by each program's model in the other one."""
    trained.save(tmp_path / "saved")
    new = [voice(emotion, 6, take) for take in range(4) for emotion in range(3)]
    files = [str(tmp_path / f"new{i}.wav") for i in range(len(new))]
    for file, samples in zip(files, new, strict=True):
        write(file, samples)
    for count in (12, 3, 1):
        printed = run(program, tmp_path, "classify", str(tmp_path / "saved"), "-q", *files[:count])
        for regressor, X, rate in ((emomc.Regressor.load(model), new, RATE), (trained, files, None)):
            X, more = X[:count], {"sampling_rate": rate}
            expect_lines(printed, regressor.predict(X, return_std=True, **more), regressor.predict_interval(X, **more))
            np.testing.assert_array_equal(regressor.predict(X, **more), regressor.predict(X, return_std=True, **more)[0])
    loaded = emomc.Regressor.load(model)
    by = run(program, tmp_path, "classify", str(model), files[0], "-q", "--speaker-from", *files[1:4])
    more = {"sampling_rate": RATE, "enrolment": new[1:4]}
    rates = {"sampling_rate": np.full(2, float(RATE)), "enrolment": (take for take in new[1:4])}
    np.testing.assert_array_equal(loaded.predict(new[:2], **rates)[:1], loaded.predict(new[:1], **more))
    expect_lines(by, loaded.predict(new[:1], return_std=True, **more), loaded.predict_interval(new[:1], **more))
    two = loaded.predict(new[:3] + new[:3], sampling_rate=RATE, speakers=["a"] * 3 + ["b"] * 3)
    np.testing.assert_array_equal(two, np.concatenate([loaded.predict(new[:3], sampling_rate=RATE)] * 2))
    # The unknown speaker's emotions are told apart: loud and rough voices have more arousal than quiet ones.
    arousal = loaded.predict(new, sampling_rate=RATE)[:, 0].reshape(4, 3)
    assert (arousal[:, 0] < arousal[:, 2]).all()


def evaluated(corpus, regressor, **more):
    _, paths, samples, y, speakers = corpus
    columns = {name: y[:, d] for d, name in enumerate(DIMENSIONS)}
    options = {"sampling_rate": RATE, "progress": False, "names": [pathlib.Path(path).stem for path in paths]}
    return emomc.evaluate(regressor, samples, columns, speakers, **options | more)


def test_evaluate_has_the_programs_numbers(corpus, program):
    folder = corpus[0]
    run(program, folder, "evaluate", "config.yaml", "-q", "--output", "evaluation")
    stages = []
    regressor = emomc.Regressor(n_threads=1)
    got = evaluated(corpus, regressor, progress=lambda *at: stages.append(at))
    scores = json.loads((folder / "evaluation/scores.json").read_text())
    del scores["seconds"]
    assert got.scores == scores and got.dimensions == DIMENSIONS
    assert got.ccc == {name: scores["regression"][name]["ccc"] for name in DIMENSIONS}
    assert got.rmse["valence"] == scores["regression"]["valence"]["rmse"] and got.ccc["arousal"] > 0.5
    with open(folder / "evaluation/predictions.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    columns = got.columns()
    assert list(columns) == list(rows[0])
    assert [row["utterance"] for row in rows] == got.names and [row["speaker"] for row in rows] == got.speakers
    for name in list(columns)[2:]:
        np.testing.assert_array_equal(columns[name], [float(row[name]) for row in rows])
    assert got.interval.shape == (24, 2, 2) and (got.interval[..., 0] < got.mean).all()
    assert stages[0] == ("features", 0, 24) and {stage for stage, _, _ in stages} == {"features", "regressions"}
    assert not hasattr(regressor, "dimensions_")  # the regressor itself is not changed
    assert repr(got).startswith("emomc.NumberEvaluation(24 recordings, CCC 0.")


def test_folds_and_groups_of_numbers_are_the_programs(corpus, program):
    folder = corpus[0]
    (folder / "speakers.csv").write_text("speaker,part,gender\ns1,a,f\ns2,b,f\ns3,a,m\ns4,b,m\n")
    (folder / "parts.yaml").write_text(
        (folder / "config.yaml").read_text()
        + "folds: {file: speakers.csv, column: part}\nby: {columns: [gender], file: speakers.csv}\n"
        + "features: {set: prosody}\nregression: {prior_sds: [1], sd_factor: 1}\n"
    )
    run(program, folder, "evaluate", "parts.yaml", "-q", "--output", "parts")
    scores = json.loads((folder / "parts/scores.json").read_text())
    del scores["seconds"]
    regressor = emomc.Regressor("prosody", prior_sds=[1], sd_factor=1)
    table = str(folder / "speakers.csv")
    got = evaluated(corpus, regressor, folds={"file": table, "column": "part"}, by={"columns": ["gender"], "file": table})
    assert got.scores == scores and got.scores["fold_names"] == ["a", "b"]
    assert [row["value"] for row in got.scores["by"][0]["values"]] == ["f", "m"]
    one = evaluated(corpus, regressor, folds=["s2"])
    assert set(one.speakers) == {"s2"} and len(one.names) == 6
    with pytest.raises(emomc.InputError, match="there is no speaker s9"):
        evaluated(corpus, regressor, folds=["s9"])
    with pytest.raises(emomc.InputError, match="y: 2 of 24 recordings"):
        emomc.evaluate(regressor, corpus[2], [1.0, 2.0], corpus[4], sampling_rate=RATE, progress=False)


def test_intervals_are_those_of_students_t(trained):
    stats = pytest.importorskip("scipy.stats")
    numbers = trained.predict_distribution([voice(0, 6, 0), voice(2, 6, 1)], sampling_rate=RATE)
    assert numbers.degrees_of_freedom == 23 and numbers.mean.shape == numbers.sd.shape == (2, 2)
    for level in (0.5, 0.9, 0.99):
        t = stats.t(numbers.degrees_of_freedom, numbers.mean, numbers.scale)
        np.testing.assert_allclose(numbers.interval(level), np.stack(t.interval(level), axis=-1), rtol=1e-9)
    np.testing.assert_allclose(numbers.sd, t.std(), rtol=1e-12)
    for level in (0, 1, float("nan")):
        with pytest.raises(emomc.InputError, match="level: .* out of range; allowed: above 0 and below 1"):
            numbers.interval(level)


def test_options_are_the_programs(corpus, program, tmp_path):
    folder, paths, _, y, speakers = corpus
    options = ["--set", "features.set=prosody", "--set", "regression.prior_sds=[2]", "--set", "regression.sd_factor=1"]
    run(program, folder, "train", "config.yaml", "-o", "plain", "-q", *options)
    regressor = emomc.Regressor("prosody", prior_sds=[2], sd_factor=1, n_threads=2)
    regressor.fit(paths, y, speakers, progress=False).save(tmp_path / "plain")
    for name in ("weights.npy", "rotation.npy"):
        assert (tmp_path / "plain" / name).read_bytes() == (folder / "plain" / name).read_bytes()
    assert regressor.dimensions_.tolist() == ["y0", "y1"] and regressor.sd_factor_.tolist() == [1, 1]
    assert emomc.Regressor.load(folder / "plain").functionals == "prosody"
    assert repr(regressor) == "emomc.Regressor('prosody', dimensions=['y0', 'y1'])"


def test_numbers_are_given_in_many_ways(corpus, trained):
    pandas = pytest.importorskip("pandas")
    _, _, samples, y, speakers = corpus
    more = {"sampling_rate": RATE, "progress": False}
    new = [voice(1, 6, 0)]
    want = trained.predict(new, sampling_rate=RATE)
    frame = pandas.DataFrame(y, columns=DIMENSIONS)
    for given in (frame, y, y.tolist()):
        regressor = emomc.Regressor().fit(samples, given, speakers, **more)
        np.testing.assert_allclose(regressor.predict(new, sampling_rate=RATE), want, rtol=1e-12)
    # One dimension has no axis of dimensions; each is learned alone.
    for given, name in ((frame["arousal"], "arousal"), (y[:, 0], "y"), (frame[["arousal"]], "arousal")):
        regressor = emomc.Regressor().fit(samples, given, speakers, **more)
        assert regressor.dimensions_.tolist() == [name]
        np.testing.assert_allclose(regressor.predict(new, sampling_rate=RATE), want[:, 0], rtol=1e-12)
        assert regressor.predict_interval(new, sampling_rate=RATE).shape == (1, 2)
    seen = []
    emomc.Regressor().fit(samples, y, speakers, sampling_rate=RATE, progress=lambda *at: seen.append(at))
    assert seen[0] == ("features", 0, 24) and {stage for stage, _, _ in seen} == {"features", "regressions"}


def test_one_line_says_what_is_wrong(corpus, trained, model, tmp_path):
    _, _, samples, y, speakers = corpus

    def refused(words, change_y=y, change_speakers=speakers, **options):
        with pytest.raises(emomc.InputError) as caught:
            emomc.Regressor(**options).fit(samples, change_y, change_speakers, sampling_rate=RATE, progress=False)
        assert words in str(caught.value) and "\n" not in str(caught.value)

    refused("y: values of type <U3; allowed: numbers (Classifier predicts classes)", ["sad"] * 24)
    refused("y: 2 of 24 recordings", [1.0, 2.0])
    refused("y: an array with 3 axes", y[:, :, None])
    refused("y['arousal']: 1 of 24 recordings", {"arousal": [1.0]})
    refused("y: there is no dimension", {})
    refused("y: '1', '1'; allowed: distinct names", {1: y[:, 0], "1": y[:, 1]})
    refused("y: there is no dimension", y[:, :0])
    hole = y.copy()
    hole[3, 1] = np.nan
    refused("y: the y1 of X[03] is nan; allowed: finite numbers", hole)
    refused("all recordings that train a fold have the same y", np.ones(24))
    refused("frames names something else in results", {"frames": y[:, 0]})
    refused("fewer than two training speakers", y, ["s1"] * 24)
    refused("speakers: 1 of 24 recordings", y, ["s1"])
    refused("speakers[1]: None; allowed: a label for each recording", y, ["s1", None] * 12)
    refused("speakers[0]: nan; allowed: a label for each recording", y, [float("nan")] * 24)
    refused("random_state: -1; allowed: an integer of 0 to 2^64 - 1, or None", random_state=-1)
    refused("prior_sds: 1; allowed: a list of numbers", prior_sds=1)
    refused("prior_sds: []; allowed: one or more above 0", prior_sds=[])
    refused("sd_factor: 0 is out of range; allowed: above 0, up to 1000, or None", sd_factor=0)
    refused("n_threads: -1 is out of range", n_threads=-1)
    refused("functionals: all is unknown; allowed: cepstra, prosody, full, compact", functionals="all")
    with pytest.raises((emomc.InputError, ValueError), match="not fitted"):
        emomc.Regressor().predict(samples, sampling_rate=RATE)
    with pytest.raises(emomc.InputError, match="both are given"):
        trained.predict(samples[:1], sampling_rate=RATE, speakers=["a"], enrolment=samples[1:2])
    with pytest.raises(emomc.InputError, match="enrolment: arrays, and sampling_rate has 2 different rates"):
        trained.predict(samples[:2], sampling_rate=[RATE, 2 * RATE], enrolment=samples[2:3])
    with pytest.raises(emomc.InputError, match=r"X\[1\]: there are no samples"):
        trained.predict([samples[0], samples[0][:0]], sampling_rate=RATE)
    with pytest.raises(emomc.InputError, match="nowhere.wav"):
        trained.predict(["nowhere.wav"])


def test_models_of_others_are_refused(corpus, trained, model, tmp_path):
    _, _, samples, _, speakers = corpus
    with pytest.raises(emomc.InputError, match="no model of a regression of numbers, as emomc train writes it"):
        emomc.Regressor.load(tmp_path)
    with pytest.raises(emomc.InputError, match="the model predicts numbers; allowed: emomc.Regressor.load"):
        emomc.Classifier.load(model)
    labels = [EMOTIONS[i % 3] for i in range(24)]
    classifier = emomc.Classifier("prosody", prior_sds=[1], chains=2, warmup=20, draws=20)
    classifier.fit(samples, labels, speakers, sampling_rate=RATE, progress=False).save(tmp_path / "classes")
    with pytest.raises(emomc.InputError, match="the model predicts classes; allowed: emomc.Classifier.load"):
        emomc.Regressor.load(tmp_path / "classes")
    with pytest.raises(emomc.InputError, match="has a model; allowed: overwrite=True, or another directory"):
        trained.save(tmp_path / "classes")
    trained.save(tmp_path / "model")
    (tmp_path / "model" / "weights.npy").write_bytes(b"damaged")
    with pytest.raises(emomc.InputError, match="weights.npy"):
        emomc.Regressor.load(tmp_path / "model")
    trained.save(tmp_path / "model", overwrite=True)
    assert emomc.Regressor.load(tmp_path / "model").dimensions_.tolist() == DIMENSIONS


def test_parameters_are_scikit_learns(trained):
    sklearn = pytest.importorskip("sklearn.base")
    clone = sklearn.clone(emomc.Regressor("prosody", sd_factor=1))
    assert clone.get_params()["sd_factor"] == 1 and clone.functionals == "prosody"
