# Simulates 150 rows of two Student's t and computes Stan's posterior of them, for tests/apps/student_t_test.cpp.
#   Rscript make_student_t.R student_t.csv student_t.json
# Packages (Debian): r-cran-rstan r-cran-posterior r-cran-jsonlite. About three minutes on two cores.
library(rstan)
source(file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), "stan_summary.R"))
rstan_options(boost_lib = "/usr/include")

arguments <- commandArgs(trailingOnly = TRUE)
set.seed(20261125)
x <- round(c(-3 + 0.8 * rt(60, 3), 4 + 1.2 * rt(90, 8)), 4)
write.csv(data.frame(x = x), arguments[1], row.names = FALSE, quote = FALSE)
K <- 2
alpha <- 1

model <- "
data { int N; int K; vector[N] x; real alpha; }
parameters { simplex[K] weights; ordered[K] means; vector<lower=0>[K] scales;
  vector<lower=0>[K] degrees_of_freedom; }
model {
  weights ~ dirichlet(rep_vector(alpha, K));
  means ~ normal(0, 10);
  scales ~ normal(0, 2);
  degrees_of_freedom ~ gamma(2, 0.1);
  for (n in 1:N) {
    vector[K] terms = log(weights);
    for (k in 1:K) terms[k] += student_t_lpdf(x[n] | degrees_of_freedom[k], means[k], scales[k]);
    target += log_sum_exp(terms);
  }
}
generated quantities {
  real log_likelihood = 0;
  for (n in 1:N) {
    vector[K] terms = log(weights);
    for (k in 1:K) terms[k] += student_t_lpdf(x[n] | degrees_of_freedom[k], means[k], scales[k]);
    log_likelihood += log_sum_exp(terms);
  }
}
"
fit <- stan(
  model_code = model, data = list(N = length(x), K = K, x = x, alpha = alpha),
  chains = 8, cores = 2, warmup = 2000, iter = 8000, seed = 1,
  control = list(adapt_delta = 0.95, max_treedepth = 12), refresh = 0
)
cat(jsonlite::toJSON(
  list(program = paste("Stan", stan_version()), components = K, alpha = alpha, parameters = summary_of_fit(fit)),
  auto_unbox = TRUE, digits = 10, pretty = TRUE
), "\n", file = arguments[2])
