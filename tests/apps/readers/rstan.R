# Reads FOLDER/draws-*.csv with rstan and prints the summary of the package posterior as JSON. Exits with 77
# if a package is missing.
folder <- commandArgs(trailingOnly = TRUE)[1]
for (package in c("rstan", "posterior", "jsonlite"))
  if (!requireNamespace(package, quietly = TRUE)) quit(status = 77)
fit <- suppressMessages(rstan::read_stan_csv(Sys.glob(file.path(folder, "draws-*.csv"))))
draws <- posterior::as_draws_array(as.array(fit))
summary <- posterior::summarise_draws(
  draws, mean = mean, sd = posterior::sd, rhat = posterior::rhat, ess_bulk = posterior::ess_bulk,
  ess_tail = posterior::ess_tail, mcse_mean = posterior::mcse_mean, mcse_sd = posterior::mcse_sd)
# means[2,1] in R is means[1,0] in emomc.
ours <- function(name) {
  if (name == "lp__") return("log_density")
  if (!grepl("[", name, fixed = TRUE)) return(name)
  inside <- as.integer(strsplit(sub("\\]$", "", sub("^[^[]*\\[", "", name)), ",")[[1]]) - 1L
  paste0(sub("\\[.*", "", name), "[", paste(inside, collapse = ","), "]")
}
table <- as.data.frame(summary)
names(table)[1] <- "name"
table$name <- vapply(table$name, ours, "")
cat(jsonlite::toJSON(table, digits = NA))
