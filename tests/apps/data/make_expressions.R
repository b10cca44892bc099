# Computes Stan's log likelihoods and log priors of the examples in docs/examples/likelihoods at two points each, and
# its posteriors of three of them, for tests/apps/expression_examples_test.cpp.
#   Rscript make_expressions.R ../../../docs/examples/likelihoods/data expressions.json
# Packages (Debian): r-cran-rstan r-cran-posterior r-cran-jsonlite. About fifteen minutes on two cores.
library(rstan)
source(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "stan_summary.R"))
rstan_options(boost_lib = "/usr/include")

arguments <- commandArgs(trailingOnly = TRUE)
read <- function(name) read.csv(file.path(arguments[1], paste0(name, ".csv")))

# The likelihood and the prior are added to `target` separately, by `part`: 0 both, 1 the likelihood, 2 the prior.
# Constants of truncation are written out: log(2) for a half of a symmetric distribution.
program <- function(data, parameters, likelihood, prior) paste0(
  "data { int part; int N; ", data, " }\nparameters { ", parameters, " }\nmodel {\n",
  "  if (part != 2) {\n", likelihood, "  }\n  if (part != 1) {\n", prior, "  }\n}\n")

beta_like <- "    target += normal_lpdf(a | 0, 5) + normal_lpdf(b | 0, 2.5);\n"
peak_prior <- "    target += beta_lpdf(n | 1, 1) + normal_lpdf(m | 125, 5) + lognormal_lpdf(s | 0.7, 0.5)
      + lognormal_lpdf(tau | 4, 0.7);\n"
peak_parameters <- "real<lower=0, upper=1> n; real m; real<lower=0> s; real<lower=0> tau;"
window <- "    real zs = log_diff_exp(normal_lcdf(160 | m, s), normal_lcdf(100 | m, s));
    real zb = log_diff_exp(exponential_lcdf(160 | 1 / tau), exponential_lcdf(100 | 1 / tau));\n"

models <- list(
  two_gaussians = list(
    code = program("vector[N] mass;",
      "real<lower=0, upper=1> f; real m; real<lower=0> core; real<lower=0> excess;",
      "    for (i in 1:N) target += log_mix(f, normal_lpdf(mass[i] | m, core),
        normal_lpdf(mass[i] | m, core * (1 + excess)));\n",
      "    target += beta_lpdf(f | 2, 2) + normal_lpdf(m | 0, 10) + normal_lpdf(core | 0, 5) + log(2)
      + gamma_lpdf(excess | 2, 1);\n"),
    data = function() list(mass = read("events")$mass),
    points = list(list(f = 0.7, m = 1.2, core = 0.8, excess = 2), list(f = 0.05, m = -3, core = 4, excess = 0.1))),
  peak = list(
    code = program("vector[N] mass;", peak_parameters,
      paste0(window, "    for (i in 1:N) target += log_mix(n, normal_lpdf(mass[i] | m, s) - zs,
        exponential_lpdf(mass[i] | 1 / tau) - zb);\n"), peak_prior),
    data = function() list(mass = read("masses")$mass),
    points = list(list(n = 0.15, m = 125, s = 2, tau = 50), list(n = 0.6, m = 110, s = 7, tau = 12))),
  binned_peak = list(
    code = program("vector[N] left; vector[N] right; vector[N] events;", peak_parameters,
      paste0(window, "    for (i in 1:N) target += events[i] * log_mix(n,
        log_diff_exp(normal_lcdf(right[i] | m, s), normal_lcdf(left[i] | m, s)) - zs,
        log_diff_exp(exponential_lcdf(right[i] | 1 / tau), exponential_lcdf(left[i] | 1 / tau)) - zb);\n"), peak_prior),
    data = function() as.list(read("bins")),
    points = list(list(n = 0.15, m = 125, s = 2, tau = 50), list(n = 0.6, m = 130, s = 12, tau = 30))),
  poisson = list(
    code = program("int claims[N]; matrix[N, 2] x; vector[N] years;", "real a; vector[2] b;",
      "    for (i in 1:N) target += poisson_log_lpmf(claims[i] | a + x[i] * b + log(years[i]));\n", beta_like),
    data = function() { d <- read("claims"); list(claims = d$claims, x = cbind(d$age, d$region), years = d$years) },
    points = list(list(a = 0.3, b = c(-0.5, 0.4)), list(a = -2, b = c(3, -1))), posterior = TRUE),
  logistic = list(
    code = program("int admitted[N]; matrix[N, 2] x;", "real a; vector[2] b;",
      "    for (i in 1:N) target += bernoulli_logit_lpmf(admitted[i] | a + x[i] * b);\n", beta_like),
    data = function() { d <- read("admissions"); list(admitted = d$admitted, x = cbind(d$grade, d$test)) },
    points = list(list(a = -0.5, b = c(0.8, 0.5)), list(a = 20, b = c(-8, 30)))),
  robust = list(
    code = program("vector[N] loss; matrix[N, 3] x;",
      "real<lower=0> s; real<lower=0> excess; real a; vector[3] b;",
      "    for (i in 1:N) target += student_t_lpdf(loss[i] | 1 + excess, a + x[i] * b, s);\n",
      "    target += normal_lpdf(s | 0, 10) + log(2) + gamma_lpdf(excess | 2, 0.1) + normal_lpdf(a | 0, 50)
      + normal_lpdf(b | 0, 2.5);\n"),
    data = function() { d <- read("stackloss"); list(loss = d$loss, x = cbind(d$air_flow, d$water_temperature, d$acid)) },
    points = list(list(s = 2, excess = 3, a = -40, b = c(0.7, 1.3, -0.15)),
                  list(s = 0.3, excess = 80, a = 5, b = c(0.1, 0.2, 0.3)))),
  survival = list(
    code = program("vector[N] weeks; int event[N]; vector[N] treated;", "real<lower=0> shape; real a; vector[1] b;",
      "    for (i in 1:N) { real scale = exp(a + b[1] * treated[i]);
      if (event[i] == 1) target += weibull_lpdf(weeks[i] | shape, scale);
      else target += weibull_lccdf(weeks[i] | shape, scale); }\n",
      "    target += gamma_lpdf(shape | 2, 1) + normal_lpdf(a | 2, 2) + normal_lpdf(b | 0, 2);\n"),
    data = function() as.list(read("remission")),
    points = list(list(shape = 1.4, a = 2.2, b = array(1.2)), list(shape = 4, a = 3, b = array(-0.5)))),
  eight_schools = list(
    code = program("vector[N] effect; vector[N] error;", "real mu; real<lower=0> tau; vector[8] eta;",
      "    for (i in 1:N) target += normal_lpdf(effect[i] | mu + tau * eta[i], error[i]);\n",
      "    target += normal_lpdf(mu | 0, 5) + cauchy_lpdf(tau | 0, 5) + log(2) + normal_lpdf(eta | 0, 1);\n"),
    data = function() { d <- read("eight_schools"); list(effect = d$effect, error = d$error) },
    points = list(list(mu = 4, tau = 3, eta = c(0.4, 0, -0.1, 0, -0.2, -0.1, 0.3, 0.1)),
                  list(mu = -20, tau = 40, eta = c(1, -2, 3, -1, 0.5, 0, 2, 1))), posterior = TRUE),
  hierarchical_logistic = list(
    code = program("int recovered[N]; int hospital[N]; vector[N] dose;",
      "vector[50] alpha; real b; real alpha_mean; real<lower=0> alpha_sd;",
      "    for (i in 1:N) target += bernoulli_logit_lpmf(recovered[i] | alpha[hospital[i] + 1] + b * dose[i]);\n",
      "    target += normal_lpdf(alpha | alpha_mean, alpha_sd) + normal_lpdf(b | 0, 1) + normal_lpdf(alpha_mean | 0, 2)
      + normal_lpdf(alpha_sd | 0, 1) + log(2);\n"),
    data = function() as.list(read("patients")),
    points = list(list(alpha = sin(1:50), b = 0.9, alpha_mean = 0.4, alpha_sd = 0.8),
                  list(alpha = 3 * cos(1:50), b = -2, alpha_mean = -1, alpha_sd = 2)), posterior = TRUE),
  von_mises = list(
    code = program("vector[N] angle;", "real<lower=0, upper=1> f; real mu; real apart; vector<lower=0>[2] kappa;",
      "    for (i in 1:N) target += log_mix(f, von_mises_lpdf(angle[i] | mu, kappa[1]),
        von_mises_lpdf(angle[i] | mu + apart, kappa[2]));\n",
      "    target += beta_lpdf(f | 4, 2) + normal_lpdf(mu | 1, 0.5) + normal_lpdf(apart | 3.14159, 0.3)
      + gamma_lpdf(kappa | 2, 0.5);\n"),
    data = function() as.list(read("directions")),
    points = list(list(f = 0.8, mu = 1.1, apart = 3.1, kappa = c(2.5, 4)), list(f = 0.2, mu = 0, apart = 2, kappa = c(0.1, 20)))),
  zero_inflated = list(
    code = program("int count[N]; matrix[N, 2] x;", "real<lower=0, upper=1> zero; real a; vector[2] b;",
      "    for (i in 1:N) { real eta = a + x[i] * b;
      if (count[i] == 0) target += log_mix(zero, 0, poisson_log_lpmf(count[i] | eta));
      else target += log1m(zero) + poisson_log_lpmf(count[i] | eta); }\n",
      "    target += beta_lpdf(zero | 1, 1) + normal_lpdf(a | 0, 2) + normal_lpdf(b | 0, 1);\n"),
    data = function() { d <- read("fish"); list(count = d$count, x = cbind(d$hours, d$people)) },
    points = list(list(zero = 0.35, a = 0.2, b = c(0.7, 0.3)), list(zero = 0.9, a = -3, b = c(2, 1))))
)

results <- list()
for (name in names(models)) {
  cat(name, "\n")
  m <- models[[name]]
  data <- m$data()
  data$N <- length(data[[1]])
  compiled <- stan_model(model_code = m$code)
  at <- function(part) {
    data$part <- part
    sampling(compiled, data = data, chains = 0, refresh = 0)
  }
  likelihood <- at(1)
  prior <- at(2)
  value <- function(fit, p) log_prob(fit, unconstrain_pars(fit, p), adjust_transform = FALSE)
  results[[name]] <- list(points = lapply(m$points, function(p) list(
    parameters = lapply(p, function(x) if (is.array(x)) I(as.vector(x)) else x),
    log_likelihood = value(likelihood, p), log_prior = value(prior, p))))
  if (!is.null(m$posterior)) {
    data$part <- 0
    fit <- sampling(compiled, data = data, chains = 4, cores = 2, warmup = 1000, iter = 6000, seed = 1, refresh = 0,
                    control = list(adapt_delta = 0.95))
    results[[name]]$parameters <- summary_of_fit(fit)
  }
}
cat(jsonlite::toJSON(list(program = paste("Stan", stan_version()), models = results), auto_unbox = TRUE, digits = 16,
                     pretty = TRUE), "\n", file = arguments[2])
