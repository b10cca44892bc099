#!/bin/sh
# Makes the simulated data of the examples: columns that are given here, the others drawn by `emomc simulate`
# at known parameters. Usage, from the repository's root: docs/examples/likelihoods/make_data.sh build/release/bin/emomc
set -eu
emomc=$1
here=docs/examples/likelihoods
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Numbers that look irregular: the fractional parts of multiples of two irrational numbers.
columns() { # name of the file, rows, header, awk expressions of u and v (in (0, 1)) and the row i
  awk -v n="$2" -v header="$3" "BEGIN { print header; for (i = 0; i < n; ++i) {
    u = (i * 0.6180339887 + 0.3) % 1; v = (i * 0.7548776662 + 0.1) % 1; print $4 } }" > "$here/data/$1"
}
simulate() { # configuration, file of data, parameters, further arguments
  name=$1; file=$2; printf '%s\n' "$3" > "$work/truth.json"; shift 3
  "$emomc" simulate "$here/$name.yaml" -o "$work/$name" --parameters "$work/truth.json" -q "$@"
  cp "$work/$name/$file" "$here/data/$file"
}

simulate two_gaussians events.csv '{"f": 0.7, "m": 1.2, "core": 0.8, "excess": 2}' --rows 1000
simulate peak masses.csv '{"n": 0.15, "m": 125, "s": 2, "tau": 50}' --rows 2000
awk -F, 'NR > 1 { ++n[int(($1 - 100) / 1.5)] } END { print "left,right,events"
  for (i = 0; i < 40; ++i) print 100 + 1.5 * i "," 100 + 1.5 * (i + 1) "," n[i] + 0 }' \
  "$here/data/masses.csv" > "$here/data/bins.csv"
columns claims.csv 400 age,region,years 'sprintf("%.2f,%d,%.2f", 2 * u - 1, v > 0.6, 0.2 + 2 * v)'
simulate poisson claims.csv '{"a": 0.3, "b": [-0.5, 0.4]}'
columns admissions.csv 300 grade,test 'sprintf("%.2f,%.2f", 4 * u - 2, 4 * v - 2)'
simulate logistic admissions.csv '{"a": -0.5, "b": [0.8, 0.5]}'
columns patients.csv 1500 hospital,dose 'sprintf("%d,%.2f", i % 50, 2 * u - 1)'
simulate hierarchical_logistic patients.csv '{"alpha": ['"$(awk 'BEGIN { for (i = 0; i < 50; ++i) {
  x = (i * 0.6180339887 + 0.2) % 1; printf "%s%.3f", i ? ", " : "", 0.4 + 0.8 * log(x / (1 - x)) / 1.8 } }')"'], "b": 0.9}'
simulate von_mises directions.csv '{"f": 0.8, "mu": 1.1, "apart": 3.1, "kappa": [2.5, 4]}' --rows 300
columns fish.csv 250 hours,people 'sprintf("%.2f,%d", 3 * u - 1.5, 1 + 3 * v)'
simulate zero_inflated fish.csv '{"zero": 0.35, "a": 0.2, "b": [0.7, 0.3]}'
# Kepler's equation takes a loop, so that these are made here: period 12.3, phase 0.35, eccentricity 0.3, amplitude 55,
# omega 0.8, velocity 10, jitter 3.
awk 'BEGIN { print "time,velocity_measured,error"; pi = atan2(0, -1); e = 0.3; w = 0.8
  for (i = 0; i < 80; ++i) {
    u = (i * 0.6180339887 + 0.3) % 1; v = (i * 0.7548776662 + 0.1) % 1
    t = sprintf("%.2f", i * 1.9 + 1.5 * u) + 0; error = sprintf("%.1f", 2 + 2 * v) + 0
    turns = t / 12.3 + 0.35; mean = 2 * pi * (turns - int(turns)); E = mean
    for (k = 0; k < 50; ++k) E -= (E - e * sin(E) - mean) / (1 - e * cos(E))
    d = 1 - e * cos(E); c = (cos(E) - e) / d; s = sqrt(1 - e * e) * sin(E) / d
    noise = sqrt(-2 * log(1 - u)) * cos(2 * pi * v) * sqrt(error ^ 2 + 9)
    printf "%.2f,%.2f,%.1f\n", t, 55 * (cos(w) * c - sin(w) * s + e * cos(w)) + 10 + noise, error } }' > \
  "$here/data/velocities.csv"
