# Computes the results of R's loo for its own example: smoothed weights, Pareto k, LOO and WAIC of each observation.
#   Rscript tests/libsampler/data/make_loo.R > tests/libsampler/data/loo_example.json
suppressMessages(library(loo))
ll <- round(example_loglik_matrix(), 5)
chosen <- c(1, 5, 17, 32)
p <- suppressWarnings(psis(-ll, r_eff = rep(1, ncol(ll))))
l <- suppressWarnings(loo(ll, r_eff = rep(1, ncol(ll))))
w <- suppressWarnings(waic(ll))
m <- ll + 0.3 * sin(seq_len(nrow(ll))) # another model of the same observations
m <- sweep(m, 2, seq(-0.2, 0.3, length.out = ncol(ll)), "+") # the test computes it too
l2 <- suppressWarnings(loo(m, r_eff = rep(1, ncol(ll))))
comparison <- loo_compare(l, l2)
cat(jsonlite::toJSON(list(
  loo_version = as.character(packageVersion("loo")),
  log_likelihood = ll, pareto_k = p$diagnostics$pareto_k,
  chosen = chosen - 1, log_weights = t(weights(p, log = TRUE, normalize = TRUE)[, chosen]),
  elpd_loo_pointwise = l$pointwise[, "elpd_loo"], p_loo_pointwise = l$pointwise[, "p_loo"],
  elpd_loo = l$estimates["elpd_loo", "Estimate"], se_elpd_loo = l$estimates["elpd_loo", "SE"],
  p_loo = l$estimates["p_loo", "Estimate"], se_p_loo = l$estimates["p_loo", "SE"],
  elpd_waic_pointwise = w$pointwise[, "elpd_waic"], p_waic_pointwise = w$pointwise[, "p_waic"],
  elpd_waic = w$estimates["elpd_waic", "Estimate"], se_elpd_waic = w$estimates["elpd_waic", "SE"],
  difference = unname(comparison[2, "elpd_diff"]), se_difference = unname(comparison[2, "se_diff"])),
  digits = NA, auto_unbox = TRUE))
