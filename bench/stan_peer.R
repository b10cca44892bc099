# rstan for peers_stan.py: Rscript stan_peer.R MODEL.stan
# Compiles the model, then reads lines from standard input and answers each by one line:
#   load PROBLEM.R ROWS    N, D, K and the parameters, as R's dump() writes them, and the rows: N x D float64, a column
#                          after the other; answers with the problem's number
#   evaluate WHICH COUNT   evaluates that problem's log density COUNT times; answers with its last value
suppressPackageStartupMessages(library(rstan))
if (rstan_options("boost_lib") == "") rstan_options(boost_lib = "/usr/include")  # Debian's BH has no headers
model <- stan_model(commandArgs(trailingOnly = TRUE)[1])
problems <- list()

load_problem <- function(file, rows) {
  problem <- read_rdump(file)
  x <- matrix(readBin(rows, "double", problem$N * problem$D), nrow = problem$N)
  parameters <- problem[c("weights", "means", "scales")]
  # log_prob() wants a fit; this one takes no step.
  fit <- suppressMessages(suppressWarnings(
    sampling(model, data = c(problem[c("N", "D", "K")], list(x = x)), chains = 1, iter = 1, warmup = 0, refresh = 0,
             algorithm = "Fixed_param", init = list(parameters))))
  problems[[length(problems) + 1]] <<- list(fit = fit, point = unconstrain_pars(fit, parameters))
  length(problems)
}

evaluate <- function(which, count) {
  problem <- problems[[which]]
  for (i in seq_len(count)) value <- log_prob(problem$fit, problem$point, adjust_transform = FALSE, gradient = FALSE)
  sprintf("%.17g", as.numeric(value))
}

input <- file("stdin", open = "r")
while (length(line <- readLines(input, n = 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  answer <- switch(words[1], load = load_problem(words[2], words[3]),
                   evaluate = evaluate(as.integer(words[2]), as.integer(words[3])))
  cat("answer", answer, "\n")
  flush(stdout())
}
