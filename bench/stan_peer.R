# The rstan process of peers_stan.py: Rscript stan_peer.R MODEL.stan
# It compiles the model, then reads lines from standard input and answers each with one line:
#  load PROBLEM.R ROWS    PROBLEM.R has N, D, K and the parameters, as R's dump() writes them; ROWS has the rows, N x D
#                         float64, column by column; the answer is the number of the problem
#  evaluate WHICH COUNT   evaluates the log density of that problem COUNT times; the answer is its last value
suppressPackageStartupMessages(library(rstan))
if (rstan_options("boost_lib") == "") rstan_options(boost_lib = "/usr/include")  # Debian's BH has no headers
model <- stan_model(commandArgs(trailingOnly = TRUE)[1])
problems <- list()

load_problem <- function(file, rows) {
  problem <- read_rdump(file)
  x <- matrix(readBin(rows, "double", problem$N * problem$D), nrow = problem$N)
  parameters <- problem[c("weights", "means", "scales")]
  # log_prob() needs a fit; this one takes no step.
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
