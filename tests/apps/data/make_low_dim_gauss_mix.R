# Summarises posteriordb's reference draws, for tests/apps/low_dim_gauss_mix_test.cpp.
#   Rscript make_low_dim_gauss_mix.R posterior_database tests/apps/data
# with a copy of github.com/stan-dev/posteriordb (BSD-3-Clause). Packages (Debian): r-cran-posterior
# r-cran-jsonlite.
library(posterior)
library(jsonlite)

arguments <- commandArgs(trailingOnly = TRUE)
read_zip <- function(path, name) {
  fromJSON(unz(file.path(arguments[1], path), name), simplifyVector = TRUE)
}
for (name in c("low_dim_gauss_mix_collapse", "low_dim_gauss_mix")) {
  data <- read_zip(file.path("data/data", paste0(name, ".json.zip")), paste0(name, ".json"))
  write.csv(data.frame(y = data$y), file.path(arguments[2], paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}

pair <- paste0(name, "-", name)
chains <- read_zip(file.path("reference_posteriors/draws/draws", paste0(pair, ".json.zip")), paste0(pair, ".json"))
names_here <- c(
  "mu[1]" = "means[0,0]", "mu[2]" = "means[1,0]", "sigma[1]" = "scales[0,0]", "sigma[2]" = "scales[1,0]",
  "theta" = "weights[0]"
)
results <- lapply(names(names_here), function(theirs) {
  x <- do.call(cbind, chains[[theirs]])
  list(
    name = names_here[[theirs]], posteriordb = theirs, mean = mean(x), sd = sd(x), q5 = quantile2(x, 0.05)[[1]],
    q50 = quantile2(x, 0.5)[[1]], q95 = quantile2(x, 0.95)[[1]], mcse_mean = mcse_mean(x), mcse_sd = mcse_sd(x),
    mcse_q5 = mcse_quantile(x, 0.05)[[1]], mcse_q50 = mcse_quantile(x, 0.5)[[1]],
    mcse_q95 = mcse_quantile(x, 0.95)[[1]], rhat = rhat(x), ess_bulk = ess_bulk(x), ess_tail = ess_tail(x)
  )
})
cat(toJSON(
  list(source = "posteriordb, reference draws of low_dim_gauss_mix-low_dim_gauss_mix", parameters = results),
  auto_unbox = TRUE, digits = 10, pretty = TRUE
), "\n", file = file.path(arguments[2], paste0(name, ".json")))
