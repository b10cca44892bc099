# Computes the log likelihoods of make_loglik.py by base R (dnorm, or chol and backsolve, and a log-sum-exp). Writes
# loglik_r.csv, one line for each case of loglik.json. Needs the package jsonlite.
arguments <- commandArgs(FALSE)
here <- dirname(sub("--file=", "", grep("--file=", arguments, value = TRUE)))
cases <- jsonlite::fromJSON(file.path(here, "loglik.json"), simplifyVector = FALSE)
number <- function(x) matrix(unlist(x), nrow = length(x), byrow = TRUE)
lines <- sapply(cases, function(case) {
  x <- number(case$rows)
  weights <- unlist(case$parameters$weights)
  means <- number(case$parameters$means)
  log_component <- function(k) {
    if (is.null(case$parameters$scales)) {
      own <- case$parameters$covariances
      upper <- chol(number(if (is.null(own)) case$parameters$covariance else own[[k]]))
      z <- backsolve(upper, t(x) - means[k, ], transpose = TRUE)
      return(-0.5 * colSums(z^2) - sum(log(diag(upper))) - 0.5 * ncol(x) * log(2 * pi))
    }
    scales <- number(case$parameters$scales)
    if (ncol(scales) < ncol(means)) scales <- matrix(scales, nrow(means), ncol(means))  # spherical
    colSums(dnorm(t(x), means[k, ], scales[k, ], log = TRUE))
  }
  terms <- sapply(seq_along(weights), function(k) log(weights[k]) + log_component(k))
  terms <- matrix(terms, nrow = nrow(x))
  top <- apply(terms, 1, max)
  sprintf("%.17g", sum(top + log(rowSums(exp(terms - top)))))
})
writeLines(lines, file.path(here, "loglik_r.csv"))
