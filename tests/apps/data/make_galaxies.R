# Computes Stan's posterior of the galaxy velocities (Roeder 1990), for tests/apps/galaxies_test.cpp.
#   Rscript make_galaxies.R configs/galaxies.csv K alpha out.json
# Packages (Debian): r-cran-rstan r-cran-posterior r-cran-jsonlite. About 10 minutes for K = 6 on two cores.
library(rstan)
source(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "stan_summary.R"))
rstan_options(boost_lib = "/usr/include")

arguments <- commandArgs(trailingOnly = TRUE)
velocity <- read.csv(arguments[1])$velocity
K <- as.integer(arguments[2])
alpha <- as.numeric(arguments[3])

model <- "
data { int N; int K; vector[N] x; real alpha; }
parameters { simplex[K] weights; ordered[K] means; vector<lower=0>[K] scales; }
model {
  weights ~ dirichlet(rep_vector(alpha, K));
  means ~ normal(20, 10);
  scales ~ normal(0, 1);
  for (n in 1:N) {
    vector[K] terms = log(weights);
    for (k in 1:K) terms[k] += normal_lpdf(x[n] | means[k], scales[k]);
    target += log_sum_exp(terms);
  }
}
generated quantities {
  real log_likelihood = 0;
  for (n in 1:N) {
    vector[K] terms = log(weights);
    for (k in 1:K) terms[k] += normal_lpdf(x[n] | means[k], scales[k]);
    log_likelihood += log_sum_exp(terms);
  }
}
"
fit <- stan(
  model_code = model, data = list(N = length(velocity), K = K, x = velocity, alpha = alpha),
  chains = 8, cores = 2, warmup = 2000, iter = if (K > 3) 32000 else 6000, seed = 1,
  control = list(adapt_delta = if (K > 3) 0.98 else 0.95, max_treedepth = 12), refresh = 0
)
cat(jsonlite::toJSON(
  list(program = paste("Stan", stan_version()), components = K, alpha = alpha, parameters = summary_of_fit(fit)),
  auto_unbox = TRUE, digits = 10, pretty = TRUE
), "\n", file = arguments[4])
