# Reads FOLDER/draws-*.csv with R's posterior alone, as docs/r.md describes, prints its summary as JSON, and writes
# FOLDER/plots.pdf if bayesplot is installed. Exits with 77 if a package is missing.
folder <- commandArgs(trailingOnly = TRUE)[1]
for (package in c("posterior", "jsonlite")) if (!requireNamespace(package, quietly = TRUE)) quit(status = 77)
# The following lines are those of docs/r.md.
read_draws <- function(files) {
  chains <- lapply(files, read.csv, comment.char = "#", check.names = FALSE)
  names(chains) <- NULL
  do.call(posterior::bind_draws, c(lapply(chains, posterior::as_draws_df), along = "chain"))
}
draws <- read_draws(Sys.glob(file.path(folder, "draws-*.csv")))
# weights.1 in these files is weights[0] in emomc.
ours <- function(name) {
  if (name == "lp__") return("log_density")
  parts <- strsplit(name, ".", fixed = TRUE)[[1]]
  if (length(parts) == 1) return(name)
  paste0(parts[1], "[", paste(as.integer(parts[-1]) - 1L, collapse = ","), "]")
}
own <- setdiff(posterior::variables(draws), c("accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__",
                                               "divergent__", "energy__"))
table <- as.data.frame(posterior::summarise_draws(
  posterior::subset_draws(draws, variable = own), mean = mean, sd = posterior::sd, rhat = posterior::rhat,
  ess_bulk = posterior::ess_bulk, ess_tail = posterior::ess_tail, mcse_mean = posterior::mcse_mean,
  mcse_sd = posterior::mcse_sd))
names(table)[1] <- "name"
table$name <- vapply(table$name, ours, "")
# The table of all chains has the same draws.
of_table <- read.csv(file.path(folder, "table.csv"), check.names = FALSE)
of_table$.chain <- of_table$chain + 1
of_table$.iteration <- of_table$draw + 1
of_table <- posterior::as_draws_df(of_table[setdiff(names(of_table), c("chain", "draw"))])
stopifnot(posterior::nchains(of_table) == posterior::nchains(draws),
          identical(c(of_table[["means[1,0]"]]), c(draws[["means.2.1"]])))
plotted <- requireNamespace("bayesplot", quietly = TRUE)
if (plotted) {
  pdf(file.path(folder, "plots.pdf"))
  print(bayesplot::mcmc_trace(draws, pars = c("means.1.1", "lp__")))
  print(bayesplot::mcmc_areas(draws, regex_pars = "^weights"))
  invisible(dev.off())
}
cat(jsonlite::toJSON(list(rows = table, plotted = jsonlite::unbox(plotted)), digits = NA))
