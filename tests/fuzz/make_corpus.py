#!/usr/bin/env python3
"""Writes tests/fuzz/corpus: small artificial inputs of every kind that the readers accept.

Checksums of chain files, of checkpoints and of a run's data are not computed here, since the targets correct them.
"""
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent


def write(target, name, content):
    file = HERE / "corpus" / target / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)


def folder(files):
    """The files of a folder as one input (fuzz_input.hpp, MemoryFolder)."""
    parts = []
    for name, content in files.items():
        content = content.encode() if isinstance(content, str) else content
        parts.append(b"@@ " + name.encode() + b"\n" + content)
    return b"\n".join(parts)


def text(name):
    return struct.pack("<I", len(name)) + name.encode()


def block(name, shape, support=0, unit=0, influence=1, component_axis=-1, feature_axis=-1):
    out = text(name) + struct.pack("<Q", len(shape)) + b"".join(struct.pack("<i", n) for n in shape)
    return out + struct.pack("<5i", support, unit, influence, component_axis, feature_axis)


MIXTURE = [block("weights", [2], 3, 0, 2, 0), block("means", [2, 2], 0, 1, 1, 0, 1),
           block("scales", [2, 2], 1, 2, 1, 0, 1)]
FULL = [block("weights", [2], 3, 0, 2, 0), block("means", [2, 2], 0, 1, 1, 0, 1),
        block("covariances", [2, 2, 2], 4, 2, 1, 0, 1)]
TWO_GAUSSIAN = [block("fraction", [], 2), block("mean", [], 0, 1), block("sigma", [2], 1, 2)]


def chain(blocks, draws, dim, chain_id=0, warmup=2, thin=1, acceptance=True):
    """A chain file with `draws` draws of `dim` numbers each."""
    body = struct.pack("<QQqq", chain_id, 7, warmup, thin) + struct.pack("<I", len(blocks)) + b"".join(blocks)
    body += struct.pack("<I", 2) + text("weights") + text("means[0]")
    out = b"EMOMCCH1" + struct.pack("<II", len(body), 0) + body
    records = b""
    for i in range(draws):
        values = [0.3 + 0.01 * ((7 * i + 3 * j + chain_id) % 11) for j in range(dim)]
        if dim >= 2 and blocks[0].find(b"weights") >= 0:
            values[0], values[1] = 0.5 + 0.01 * (i % 5), 0.5 - 0.01 * (i % 5)
        records += struct.pack("<q", i + 1) + struct.pack("<dd", -3.0 - i % 3, -100.0 - (5 * i) % 7)
        records += b"".join(struct.pack("<d", x) for x in values)
    out += b"DRAW" + struct.pack("<IIQI", len(records), draws, 0, 0) + records
    if acceptance:
        record = struct.pack("<q", draws) + struct.pack("<4Q", 3, 4, 10, 10)
        out += b"ACCP" + struct.pack("<IIQI", len(record), 1, 0, 0) + record
    return out


def checkpoint(chains, dim, blocks):
    def doubles(n):
        return struct.pack("<Q", n) + struct.pack("<d", 0.5) * n

    def counts(n):
        return struct.pack("<Q", n) + struct.pack("<Q", 3) * n

    body = text("sampler.chains: %d\n" % chains) + text("cpu, double") + text("b" * 64)
    body += struct.pack("<Q", 1) + text("c0") + struct.pack("<Q", 1) + text("a.csv") + struct.pack("<Q", 20) + text("c" * 64)
    body += struct.pack("<Qq", 7, 10) + struct.pack("<4i", chains, dim, dim, blocks)
    body += doubles(chains * dim) + doubles(chains) * 3 + doubles(12)
    body += counts(chains * blocks) * 4 + counts(chains) + struct.pack("<Q", 1000)
    body += struct.pack("<Q", chains) + b"".join(struct.pack("<Qq", c, 3) for c in range(chains))
    body += struct.pack("<dd", 1.5, 2.5)
    return b"EMOMCCK2" + struct.pack("<QI", len(body), 0) + body


def npy(descr, shape, data, fortran=False, version=1):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    header = header.ljust(117 if version == 1 else 115) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def wav(bits=16, channels=1, rate=16000, frames=800, tag=1):
    width = bits // 8
    data = b"".join(((37 * i * i) % 251).to_bytes(1, "little") * width for i in range(frames * channels))
    if tag == 3:
        data = b"".join(struct.pack("<f", ((37 * i) % 19 - 9) / 10) for i in range(frames * channels))
    fmt = struct.pack("<HHIIHH", tag, channels, rate, rate * channels * width, channels * width, bits)
    chunks = b"fmt " + struct.pack("<I", len(fmt)) + fmt + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def au(frames=600):
    data = b"".join(struct.pack(">h", (37 * i * i) % 2001 - 1000) for i in range(frames))
    return b".snd" + struct.pack(">5I", 24, len(data), 3, 8000, 1) + data


def aiff(frames=400):
    data = b"".join(struct.pack(">h", (37 * i * i) % 2001 - 1000) for i in range(frames))
    rate = struct.pack(">HQ", 16383 + 13, 8000 << 50)
    comm = b"COMM" + struct.pack(">IhIh", 18, 1, frames, 16) + rate
    ssnd = b"SSND" + struct.pack(">III", len(data) + 8, 0, 0) + data
    return b"FORM" + struct.pack(">I", 4 + len(comm) + len(ssnd)) + b"AIFF" + comm + ssnd


def configs():
    for file in sorted((ROOT / "configs").glob("*.yaml")):
        content = file.read_text()
        if "corpus:" in content:
            target = "evaluation_config"
        elif "parameters:" in content:
            target = "simulation_config"
        else:
            target = "run_config"
        write(target, file.name, content)
    write("simulation_config", "corpus.yaml", (ROOT / "configs/demo/corpus.yaml").read_text())
    write("run_config", "minimal.yaml", "data: {file: a.csv}\n")
    write("run_config", "priors.yaml", """data: {file: [a.csv, "b c.npy"], columns: [x, y], standardize: false}
likelihood: {components: 2, covariance: full, precision: double}
prior:
  weights: {dirichlet: [1, 2]}
  means: {student_t: {df: 4, mean: [0, 1], scale: 2.5}}
  scales: {lognormal: {meanlog: {normal: {mean: 0, sd: 1}}, sdlog: {half_normal: 1}}}
  correlations: {lkj: 2}
  order: means.0
sampler: {chains: 8, draws: 10, thin: 3, superchains: 4, until: {ess: 400, seconds: 10}, init: start.json}
backend: cpu
checkpoint: {seconds: 5}
""")
    write("run_config", "two_gaussian_priors.yaml", """data: {file: a.csv, standardize: true}
likelihood: {model: two_gaussian}
prior: {fraction: {beta: {a: 1, b: 2}}, mean: {cauchy: {location: 0, scale: 1}}, sigma: {fixed: [1, 2]}, order: sigma}
""")
    for kind in ("split_merge", "stretch", "independence"):
        write("run_config", kind + ".yaml", "data: {file: a.csv}\nsampler: {proposal: {kind: %s}}\n" % kind)
    write("evaluation_config", "rest.yaml", """corpus: {kind: manifest, path: m.csv, classes: [a, b], unparsed: skip}
features: {normalize: corpus, deltas: 2, mfcc: {like: librosa, num_filters: 40}}
folds: {k_fold_by_speaker: 5}
classification: {rule: plug_in, temper: 0.5, class_prior: {a: 0.25, b: 0.75}, draws: 100}
baseline: none
""")
    write("simulation_config", "two_gaussian.yaml",
          "model: two_gaussian\nparameters: {fraction: 0.3, mean: 1, sigma: [1, 2]}\nrows: 10\nfile: x.csv\n")


def tables():
    write("csv_table", "plain.csv", "c0,c1\n1,2\n3,4.5\n-1e3,+7\n")
    write("csv_table", "labels.csv", "speaker,utterance,frame,c0,c1\nA,1,0,0.5,2\nA,1,1,0.5,2\nB,2,0,3,4\n\n")
    write("csv_table", "quoted.csv", '\ufeff"c0","a ""b"", c"\r\n"1",2\r\n3,"4"\r\n')
    write("csv_table", "semicolon_comma.csv", "a;b\n1,5;2,5\n1;2\n")
    write("csv_table", "tab.csv", "a\tb\n1.5\t2.5\n1\t2\n")
    write("csv_table", "sep.csv", 'sep=;\n"height, m";b\n1,714;2\n')
    write("csv_table", "utf16.csv", b"\xfe\xff" + "a,b\n1,2\n".encode("utf-16-be"))
    write("csv_table", "index.csv", '"","c0"\n"1",0.5\n"2",0.7\n')
    write("csv_table", "numbers.csv", "1,2\n3,4\n")
    write("csv_table", "two_readings.csv", "height, m\n1,714\n")
    write("csv_table", "refused.csv", "c0,c0\nnan,1e999\n,x\n")
    doubles = b"".join(struct.pack("<d", i / 3) for i in range(6))
    write("npy_table", "two_axes.npy", npy("<f8", (3, 2), doubles))
    write("npy_table", "fortran.npy", npy("<f4", (2, 6), doubles, fortran=True, version=2))
    write("npy_table", "one_axis.npy", npy("|u1", (48,), doubles, version=3))
    write("npy_table", "large_shape.npy", npy("<i2", (1 << 62, 1 << 62), doubles))
    table = "utterance,frame,c0,c1\n1,0,0.5,2\n1,1,0.25,2\n2,0,3,4\n"
    write("feature_tables", "two", b"{emotion}_{speaker}.csv\n" +
          folder({"Sad_A.csv": table, "Happy_B.csv": table, "notes.txt": "no table"}))
    write("feature_tables", "stars", b"*{speaker}*-*{emotion}*v\n" + folder({"a-b-c-d.csv": table}))
    write("corpus_manifest", "two", folder({
        "manifest.csv": "path,label,speaker\na.wav,sad,ann\nsub/b.wav,happy,bob\n", "a.wav": "x", "sub/b.wav": "y"}))
    write("corpus_manifest", "refused", folder({"manifest.csv": "label,path,speaker\nsad,../../etc/x,ann\n,,\n"}))


def utterance_tables():
    columns = "file;start;f0.mean;'level';class\n"
    write("utterance_table", "csv", folder({"table.csv": columns + "a/b.wav;0 days;1.5;?;sad\nc;;nan;-2e3;\n"}))
    write("utterance_table", "pandas", folder({"table.csv": "\ufeff,path,0,1\r\n0,a.wav,3,4\r\n"}))
    write("utterance_table", "arff", folder({
        "table.arff": "% c\n@relation 'r s'\n@attribute name string\n@attribute 'f 0' numeric\n@attribute class {a,b}\n"
                      "@data\n'o\\'ne.wav', 1.25, a\n\"two\",?,b\n"}))
    write("utterance_table", "npy", folder({
        "table.npy": npy("<f8", (2, 2), struct.pack("<4d", 1, 2, 3, 4)), "names.txt": "one.wav\r\ntwo.wav\n"}))


def recordings():
    write("audio", "pcm16.wav", wav())
    write("audio", "stereo8.wav", wav(bits=8, channels=2, rate=8000, frames=400))
    write("audio", "pcm24.wav", wav(bits=24, frames=300))
    write("audio", "float.wav", wav(bits=32, frames=300, tag=3))
    write("audio", "rate.wav", wav(rate=2147483647, frames=300))
    write("audio", "sound.au", au())
    write("audio", "sound.aiff", aiff())


def parameters():
    write("parameter_file", "diagonal.json",
          '{"weights": [0.25, 0.75], "means": [[0, 1], [2, 3]], "scales": [[1, 2], [0.5, 1e-3]]}')
    write("parameter_file", "spherical.json", '{"weights": [1], "means": [[0, 1]], "scales": [1]}')
    write("parameter_file", "tied.json",
          '{"weights": [1.0], "means": [[0, 1]], "covariance": [[2, 0.5], [0.5, 1]], "means.sd": 3}')
    write("parameter_file", "full.json", '{"weights": [1.0], "means": [[0, 1]], "covariances": [[[2, 0.5], [0.5, 1]]]}')
    write("parameter_file", "two_gaussian.json", '{"fraction": 0.5, "mean": 1, "sigma": [1, 2]}')


def model():
    units = {"mean": [0.0, 1.0], "sd": [1.0, 2.0]}
    draws = npy("<f8", (2, 3, 5), struct.pack("<d", 0.5) * 30)
    json_text = json.dumps({
        "emomc_model": 1, "classes": ["sad", "happy"], "columns": ["c0", "c1"], "sample_rate": 16000.0,
        "corpus": units, "units": units, "evidence": "sum", "temper": 0.5, "log_prior": [-0.7, -0.7], "draws": 3,
        "draws_sha256": "@HASH@",
        "config": "corpus: {path: x}\nlikelihood: {components: 1}\n"})
    write("class_model", "two_classes", folder({"model.json": json_text, "draws.npy": draws}))
    ones = struct.pack("<d", 1.0)
    temper = {"temper": 1.0, "inner_log_loss": None}
    softmax = json.dumps({
        "emomc_model": 2, "classifier": "softmax", "classes": ["sad", "happy"], "functionals": {"table": "t.csv"},
        "trained_on": {"corpus": "folders x", "speakers": ["a"], "utterances_of_class": {"sad": 1}, "data_sha256": "0"},
        "sample_rate": 0.0, "seed": 1, "prior_sd": 3.0, "temperature": 0.25,
        "tempers": {name: temper for name in ("own", "five", "one", "corpus")}, "rank": 1, "draws": 2,
        "draws_sha256": "@HASH@", "rotation_sha256": "@ROTATION@", "columns": ["x", "y"],
        "config": "corpus: {kind: folders, path: x}\nfeatures: {table: t.csv}\n",
        "corpus": {"mean": [0.0, 1.0], "between": [1.0, 0.0], "within": [1.0, 2.0]}})
    write("class_model", "softmax", folder({
        "model.json": softmax, "draws.npy": npy("<f8", (2, 2, 1), ones * 4), "rotation.npy": npy("<f8", (2, 1), ones * 2)}))
    averaged = json.loads(softmax)
    del averaged["prior_sd"]
    averaged |= {"emomc_model": 3, "prior_sds": [{"prior_sd": 1.0, "draws": 1}, {"prior_sd": 3.0, "draws": 1}]}
    write("class_model", "softmax_averaged", folder({
        "model.json": json.dumps(averaged), "draws.npy": npy("<f8", (2, 2, 1), ones * 4),
        "rotation.npy": npy("<f8", (2, 1), ones * 2)}))
    factor = {"factor": 1.5, "inner_log_density": None}
    regression = json.dumps({
        "emomc_model": 2, "classifier": "regression",
        "dimensions": [{"name": name, "prior_sd": 1.0, "mean": 3.0, "noise_sd": 0.5,
                        "sd_factors": {known: factor for known in ("own", "five", "one", "corpus")}}
                       for name in ("arousal", "valence")],
        "functionals": {"table": "t.csv"}, "trained_on": {"corpus": "manifest x", "speakers": ["a"], "data_sha256": "0"},
        "sample_rate": 0.0, "seed": 1, "utterances": 9, "rank": 1, "weights_sha256": "@WEIGHTS@",
        "rotation_sha256": "@ROTATION@", "columns": ["x", "y"],
        "config": "corpus: {kind: manifest, path: x, dimensions: [arousal, valence]}\n",
        "corpus": {"mean": [0.0, 1.0], "between": [1.0, 0.0], "within": [1.0, 2.0]}})
    write("class_model", "regression", folder({
        "model.json": regression, "weights.npy": npy("<f8", (4, 1), ones * 4), "rotation.npy": npy("<f8", (2, 1), ones * 2)}))
    horseshoe = json.loads(softmax)
    del horseshoe["prior_sd"]
    horseshoe |= {"prior": "horseshoe", "relevant_share": 0.1, "slab_scale": 0.5, "rank": 2, "temperature": 1.0}
    write("class_model", "softmax_horseshoe", folder({
        "model.json": json.dumps(horseshoe), "draws.npy": npy("<f8", (2, 3, 1), ones * 6),
        "rotation.npy": npy("<f8", (2, 2), ones * 4)}))
    write("class_model", "sizes", folder({
        "model.json": json_text.replace('"draws": 3', '"draws": 536870912').replace("components: 1", "components: 4096"),
        "draws.npy": draws}))


def runs():
    write("chain_file", "mixture", chain(MIXTURE, 8, 10))
    write("chain_file", "full", chain(FULL, 5, 12))
    write("chain_file", "two_gaussian", chain(TWO_GAUSSIAN, 5, 4, acceptance=False))
    write("chain_file", "unfinished", chain(MIXTURE, 4, 10)[:-30])
    write("checkpoint", "two_chains", checkpoint(2, 9, 3))
    write("checkpoint", "many", checkpoint(16, 3, 1))
    manifest = {"kind": "run", "status": "finished", "order": "", "ensemble": False, "superchains": 0,
                "target_acceptance": 0.234, "adaptation_drift": [1.0, 1.1], "scale_floor": [0.001, 0.002],
                "faults": 0, "evaluations": 100, "seconds": {"warmup": 0.5, "sampling": 1.5},
                "data": {"sha256": "@HASH@", "files": ["data.csv"], "rows": 4, "duplicate_rows": 0,
                         "columns": ["c0", "c1"], "mean": [0.5, 1.0], "sd": [1.0, 2.0]}}
    table = "c0,c1\n0.5,1\n1,2.5\n-0.5,3\n0,0\n"
    config = "data: {file: data.csv}\nlikelihood: {components: 2}\n"
    for name, blocks, dim in (("mixture", MIXTURE, 10), ("full", FULL, 12), ("two_gaussian", TWO_GAUSSIAN, 4)):
        one_column = name == "two_gaussian"
        m = json.loads(json.dumps(manifest))
        if one_column:
            m["data"].update(columns=["c0"], mean=[0.5], sd=[1.0])
        files = {"manifest.json": json.dumps(m), "config.yaml": config,
                 "data.csv": "c0\n0.5\n1\n-0.5\n0\n" if one_column else table,
                 "chains/chain-00000.emc": chain(blocks, 12, dim),
                 "chains/chain-00001.emc": chain(blocks, 11, dim, chain_id=1)}
        for target in ("run_directory", "run_export"):
            write(target, name, folder(files))
    m = dict(manifest, superchains=2, ensemble=True, order="means")
    write("run_directory", "superchains", folder(
        {"manifest.json": json.dumps(m)} |
        {"chains/chain-0000%d.emc" % c: chain(MIXTURE, 6, 10, chain_id=c) for c in range(4)}))
    write("stan_csv", "cmdstan.csv", """# method = sample (Default)
#     num_samples = 3
#     num_warmup = 2
#     save_warmup = 1
#     thin = 1 (Default)
lp__,accept_stat__,divergent__,mu.1,mu.2,Sigma.1.1,Sigma.2.1,Sigma.1.2,Sigma.2.2,tau
""" + "".join("-1.5,0.9,%d,%g,2,1,0.5,0.5,%g,3\n" % (i % 2, i * 1.5, 2 + i % 3) for i in range(12)) +
          "# \n#  Elapsed Time: 0.5 seconds (Warm-up)\n#                0.25 seconds (Sampling)\n")
    write("stan_csv", "rstan.csv", "\ufeff# iter=6\n# warmup=4\n# save_warmup=1\n# thin=2\n# algorithm=HMC\n"
          '"lp__","mu"\n-9,90\n-9,91\n# Adaptation terminated\n-1,1e400\n-1,1\n-1,2\n')
    write("stan_csv", "variational.csv", "# method = variational\nlp__,log_p__,log_g__,odd__,mu\n0,0,0,1,100\n"
          + "".join("0,-5,-1,1,%g\n" % (i * 1.5) for i in range(8)))
    write("stan_csv", "table.csv", 'chain,draw,log_density,"means[0,1]",tau\n'
          + "".join("%d,%d,-1,%g,%g\n" % (c, i, i * 1.5, c + i) for c in range(2) for i in range(8)))
    write("stan_csv", "brackets.csv", 'lp__,"x[0,0]","x[0,1]",y[1]\n1,2,3,4\n1,inf,nan,4e-400\n2,2,3,4\n3,1,1,0\n')


def regressions():
    """Two speakers with two recordings each."""
    score = {key + ending: value for key in ("ccc", "mean_ccc_of_speakers", "pearson", "rmse", "mae", "coverage_90", "log_density")
             for ending, value in (("", 0.5), ("_interval", [0.25, None]))}
    scores = {"seed": 1, "dimensions": ["arousal"], "speakers": ["a", "b"], "utterances": 4,
              "test_speakers_of_fold": [["a"], ["b"]],
              "regression": {"arousal": score | {"ccc_by_speaker": {"a": 0.5, "b": None}, "coverage_levels": [0.5, 0.9],
                                                 "coverage_of_level": [0.5, 1.0]}},
              "known_of_speaker": [{"knowledge": "own", "dimensions": {"arousal": score}},
                                   {"knowledge": "one", "dimensions": {"arousal": score | {
                                       "ccc_less_own": -0.1, "ccc_less_own_interval": [-0.3, 0.1]}}}]}
    header = "utterance,speaker," + ",".join("arousal" + e for e in ("", "_mean", "_sd", "_low", "_high", "_log_density"))
    rows = "".join("u%d,%s,%d,2.5,0.5,1.75,3.25,-1.5\n" % (i, "ab"[i // 2], i + 1) for i in range(4))
    write("evaluation_report", "regression", folder({"scores.json": json.dumps(scores), "predictions.csv": header + "\n" + rows}))


if __name__ == "__main__":
    configs()
    tables()
    utterance_tables()
    recordings()
    parameters()
    model()
    regressions()
    runs()
