// The mixture of problem.py without a prior, as Stan's manual writes mixtures. log_prob() leaves out what does not
// depend on parameters where a statement has a ~, so that all are target +=.
data {
  int<lower=1> N;
  int<lower=1> D;
  int<lower=1> K;
  matrix[N, D] x;
}
transformed data {
  vector[D] row_of[N];
  for (n in 1:N) row_of[n] = x[n]';
}
parameters {
  simplex[K] weights;
  vector[D] means[K];
  vector<lower=0>[D] scales[K];
}
model {
  vector[K] log_weights = log(weights);
  for (n in 1:N) {
    vector[K] terms = log_weights;
    for (k in 1:K) terms[k] += normal_lpdf(row_of[n] | means[k], scales[k]);
    target += log_sum_exp(terms);
  }
}
