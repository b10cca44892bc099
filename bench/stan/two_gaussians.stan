// Two Gaussians with one mean. `form` 1 is log_mix row by row. 2 takes the first Gaussian out, as one vectorised
// density, and leaves log1p_exp of a quadratic for each row.
functions {
  real log_likelihood(vector x, vector x_squared, int form, real f, real m, vector s) {
    int N = num_elements(x);
    real total = 0;
    if (form == 1) {
      vector[N] terms;
      for (n in 1:N) terms[n] = log_mix(f, normal_lpdf(x[n] | m, s[1]), normal_lpdf(x[n] | m, s[2]));
      total = sum(terms);
    } else {
      real q = 0.5 * (inv_square(s[1]) - inv_square(s[2]));
      real c = log1m(f) - log(f) + log(s[1]) - log(s[2]) + q * square(m);
      total = N * log(f) + normal_lpdf(x | m, s[1]) + sum(log1p_exp(c - 2 * q * m * x + q * x_squared));
    }
    return total;
  }
}
data { int N; vector[N] x; int form; int values; }
transformed data { vector[N] x_squared = square(x); }
parameters { real<lower=0, upper=1> f; real m; vector<lower=0>[2] s; }
model {
  target += beta_lpdf(f | 2, 2) + normal_lpdf(m | 0, 1) + lognormal_lpdf(s | 0, 0.5);
  target += log_likelihood(x, x_squared, form, f, m, s);
}
generated quantities {
  real value = 0;
  if (values) value = log_likelihood(x, x_squared, form, f, m, s);
}
