# Computes Stan's posterior of the galaxy velocities (Roeder 1990), for tests/apps/galaxies_test.cpp.
#   Rscript make_galaxies.R configs/galaxies.csv K alpha out.json
# Packages (Debian): r-cran-rstan r-cran-posterior r-cran-jsonlite. About 10 minutes for K = 6 on two cores.
library(rstan)
library(posterior)
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
draws <- as_draws_array(fit)
draws <- subset_draws(draws, setdiff(variables(draws), "lp__"))
results <- lapply(variables(draws), function(name) {
  x <- extract_variable_matrix(draws, name)
  list(
    name = name, mean = mean(x), sd = sd(x), q5 = quantile2(x, 0.05)[[1]], q50 = quantile2(x, 0.5)[[1]],
    q95 = quantile2(x, 0.95)[[1]], mcse_mean = mcse_mean(x), mcse_sd = mcse_sd(x),
    mcse_q5 = mcse_quantile(x, 0.05)[[1]], mcse_q50 = mcse_quantile(x, 0.5)[[1]],
    mcse_q95 = mcse_quantile(x, 0.95)[[1]], rhat = rhat(x), ess_bulk = ess_bulk(x), ess_tail = ess_tail(x)
  )
})
cat("largest R-hat", max(sapply(results, `[[`, "rhat")), "smallest ESS",
    min(sapply(results, function(r) min(r$ess_bulk, r$ess_tail))), "\n")
cat(jsonlite::toJSON(
  list(program = paste("Stan", stan_version()), components = K, alpha = alpha, parameters = results),
  auto_unbox = TRUE, digits = 10, pretty = TRUE
), "\n", file = arguments[4])
