# Computes the numbers of a Stan fit with which tests/apps/reference_posterior.hpp compares, for the scripts in this
# folder.
library(posterior)

summary_of_fit <- function(fit) {
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
  results
}
