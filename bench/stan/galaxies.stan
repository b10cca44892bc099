// A mixture of K Gaussians with ordered means, as configs/galaxies.yaml.
data { int N; int K; vector[N] x; }
parameters { simplex[K] weights; ordered[K] means; vector<lower=0>[K] scales; }
model {
  vector[K] log_weights = log(weights);
  weights ~ dirichlet(rep_vector(1, K));
  means ~ normal(20, 10);
  scales ~ normal(0, 1);
  for (n in 1:N) {
    vector[K] terms = log_weights;
    for (k in 1:K) terms[k] += normal_lpdf(x[n] | means[k], scales[k]);
    target += log_sum_exp(terms);
  }
}
