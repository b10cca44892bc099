// Poisson regression. `form` 1 is poisson_log_lpmf, 2 is poisson_log_glm_lpmf.
data {
  int N; int K; matrix[N, K] x; int y[N];
  real sd_a; real sd_b;
  int form; int values;  // values: 1 evaluates the likelihood once more among generated quantities, in doubles
}
parameters { real a; vector[K] b; }
model {
  target += normal_lpdf(a | 0, sd_a) + normal_lpdf(b | 0, sd_b);
  if (form == 1) target += poisson_log_lpmf(y | a + x * b);
  else target += poisson_log_glm_lpmf(y | x, a, b);
}
generated quantities {
  real value = 0;
  if (values && form == 1) value = poisson_log_lpmf(y | a + x * b);
  else if (values) value = poisson_log_glm_lpmf(y | x, a, b);
}
