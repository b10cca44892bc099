// Eight schools, non-centred, as docs/examples/likelihoods/eight_schools.yaml.
data { int J; vector[J] effect; vector[J] error; }
parameters { real mu; real<lower=0> tau; vector[J] eta; }
model {
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
  eta ~ std_normal();
  effect ~ normal(mu + tau * eta, error);
}
