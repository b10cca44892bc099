# The rstan process of stan_session.py: Rscript stan_session.R MODEL.stan CACHE
# It compiles the model (or takes what CACHE has of it), then reads lines from standard input and answers each with
# one line of JSON:
#  load DATA.json                  {name: number, or {"file": FILE, "type": "double" or "integer", "dim": [...]}}, where
#                                  FILE has the numbers in binary, column by column
#  log_prob | gradient | doubles PARAMETERS.json SECONDS
#                                  seconds of one log_prob(gradient = FALSE), log_prob(gradient = TRUE), or evaluation of
#                                  the generated quantities, in which nothing is differentiated, and its value
#  sample CHAINS CORES WARMUP DRAWS SEED FILE
#                                  chains by NUTS with Stan's defaults; FILE gets the draws, DRAWS x CHAINS x parameters
started <- Sys.time()
suppressPackageStartupMessages(library(rstan))
arguments <- commandArgs(trailingOnly = TRUE)
if (rstan_options("boost_lib") == "") rstan_options(boost_lib = "/usr/include")  # Debian's BH has no headers
rstan_options(auto_write = TRUE)  # keeps the compiled model beside its text, in CACHE
copy <- file.path(arguments[2], basename(arguments[1]))
if (!file.exists(copy) || !identical(readLines(copy), readLines(arguments[1]))) file.copy(arguments[1], copy, overwrite = TRUE)
model <- stan_model(copy)
compile_seconds <- as.numeric(Sys.time() - started, units = "secs")
data <- NULL
fit <- NULL

read_value <- function(v, folder) {
  if (!is.list(v)) return(v)
  numbers <- readBin(file.path(folder, v$file), v$type, prod(v$dim), size = if (v$type == "integer") 4 else 8)
  if (length(v$dim) > 1) matrix(numbers, nrow = v$dim[1]) else as.array(numbers)
}

without_steps <- function(init) {  # log_prob() needs a fit; this one takes no step
  suppressMessages(suppressWarnings(
    sampling(model, data = data, chains = 1, iter = 1, warmup = 0, refresh = 0, algorithm = "Fixed_param", init = init)))
}

load_data <- function(file) {
  data <<- lapply(jsonlite::read_json(file, simplifyVector = TRUE), read_value, folder = dirname(file))
  fit <<- NULL
  list(compile_seconds = compile_seconds, stan = stan_version())
}

timed <- function(what, file, seconds) {
  parameters <- jsonlite::read_json(file, simplifyVector = TRUE)
  if (is.null(fit)) fit <<- without_steps(list(parameters))
  point <- unconstrain_pars(fit, parameters)
  instance <- fit@.MISC$stan_fit_instance
  once <- switch(what,
    log_prob = function() log_prob(fit, point, adjust_transform = FALSE, gradient = FALSE),
    gradient = function() log_prob(fit, point, adjust_transform = FALSE, gradient = TRUE),
    doubles = function() tail(instance$constrain_pars(point), 1))  # the last generated quantity
  once()
  count <- 1
  repeat {
    begin <- Sys.time()
    for (i in seq_len(count)) value <- once()
    taken <- as.numeric(Sys.time() - begin, units = "secs")
    if (taken >= seconds) break
    count <- 2 * count
  }
  list(seconds = taken / count, value = as.numeric(value))
}

sample_chains <- function(chains, cores, warmup, draws, seed, file) {
  begin <- Sys.time()
  drawn <- suppressWarnings(sampling(model, data = data, chains = chains, cores = cores, warmup = warmup,
                                     iter = warmup + draws, seed = seed, refresh = 0))
  wall <- as.numeric(Sys.time() - begin, units = "secs")
  writeBin(as.numeric(as.array(drawn)), file)
  times <- get_elapsed_time(drawn)
  of_draws <- get_sampler_params(drawn, inc_warmup = TRUE)
  leapfrogs <- sapply(of_draws, function(p) c(sum(p[seq_len(warmup), "n_leapfrog__"]), sum(p[-seq_len(warmup), "n_leapfrog__"])))
  list(names = names(drawn), wall = wall, warmup = times[, "warmup"], sampling = times[, "sample"],
       warmup_leapfrogs = sum(leapfrogs[1, ]), leapfrogs = sum(leapfrogs[2, ]),
       step_size = sapply(of_draws, function(p) p[nrow(p), "stepsize__"]),
       acceptance = mean(sapply(of_draws, function(p) mean(p[-seq_len(warmup), "accept_stat__"]))),
       divergences = sum(sapply(of_draws, function(p) sum(p[-seq_len(warmup), "divergent__"]))))
}

input <- file("stdin", open = "r")
while (length(line <- readLines(input, n = 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  numbers <- suppressWarnings(as.numeric(words))
  answer <- switch(words[1], load = load_data(words[2]),
                   sample = sample_chains(numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], words[7]),
                   timed(words[1], words[2], numbers[3]))
  cat("answer", jsonlite::toJSON(answer, auto_unbox = TRUE, digits = 17), "\n")
  flush(stdout())
}
