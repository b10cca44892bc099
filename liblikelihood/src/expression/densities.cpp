// The densities of the language, with names, arguments and meaning of Stan's functions reference. Where Stan
// raises an error, an invalid parameter gives NaN (check_positive() and similar functions), and a variable
// outside the support gives minus infinity for all parameters.
//
// Parts that depend on data alone or on parameters alone, such as "- log(sigma)", are separate terms, so that
// they are computed once. Where such terms would cancel, a function of libcore combines them: lbeta,
// log_gamma_difference. Tails (_lcdf, _lccdf) are accurate where they are small and where they are near 1.
#include <sstream>

#include "definitions.hpp"

namespace emomc::expression {
namespace {

// A line that begins with a space continues a definition.
constexpr const char* kText = R"(
# Continuous, of real numbers.
normal_lpdf(y, mu, sigma) =
    -0.5 * square((y - check_finite(mu)) / check_positive(sigma)) - log(sigma) -
    0.918938533204672741780329736406
normal_lcdf(y, mu, sigma) = std_normal_lcdf((y - check_finite(mu)) / check_positive(sigma))
normal_lccdf(y, mu, sigma) = std_normal_lccdf((y - check_finite(mu)) / check_positive(sigma))
std_normal_lpdf(y) = -0.5 * square(y) - 0.918938533204672741780329736406
student_t_lpdf(y, nu, mu, sigma) =
    log_gamma_difference(0.5 * nu, 0.5) - 0.5 * log(check_positive(nu)) - 0.572364942924700087071713675677
    - log(sigma) - 0.5 * (nu + 1) * log1p(square((y - check_finite(mu)) / check_positive(sigma)) / nu)
student_t_lcdf(y, nu, mu, sigma) =
    log_student_t_tail((check_finite(mu) - y) / check_positive(sigma), check_positive(nu))
student_t_lccdf(y, nu, mu, sigma) =
    log_student_t_tail((y - check_finite(mu)) / check_positive(sigma), check_positive(nu))
cauchy_lpdf(y, mu, sigma) =
    -1.144729885849400174143427351353 - log(sigma) - log1p(square((y - check_finite(mu)) /
    check_positive(sigma)))
cauchy_lcdf(y, mu, sigma) =
    if_else(y < mu, log(atan2(check_positive(sigma), check_finite(mu) - y)) -
    1.144729885849400174143427351353, log1m(atan2(check_positive(sigma), y - check_finite(mu)) / pi()))
cauchy_lccdf(y, mu, sigma) =
    if_else(y > mu, log(atan2(check_positive(sigma), y - check_finite(mu))) -
    1.144729885849400174143427351353, log1m(atan2(check_positive(sigma), check_finite(mu) - y) / pi()))
double_exponential_lpdf(y, mu, sigma) =
    -0.693147180559945309417232121458 - log(sigma) - abs(y - check_finite(mu)) / check_positive(sigma)
double_exponential_lcdf(y, mu, sigma) =
    if_else(y < mu, (y - check_finite(mu)) / check_positive(sigma) - 0.693147180559945309417232121458,
    log1m(0.5 * exp((check_finite(mu) - y) / check_positive(sigma))))
double_exponential_lccdf(y, mu, sigma) =
    if_else(y > mu, (check_finite(mu) - y) / check_positive(sigma) - 0.693147180559945309417232121458,
    log1m(0.5 * exp((y - check_finite(mu)) / check_positive(sigma))))
logistic_lpdf(y, mu, sigma) =
    -log(sigma) - abs((y - check_finite(mu)) / check_positive(sigma)) - 2 * log1p_exp(-abs((y - mu) /
    sigma))
logistic_lcdf(y, mu, sigma) = log_inv_logit((y - check_finite(mu)) / check_positive(sigma))
logistic_lccdf(y, mu, sigma) = log1m_inv_logit((y - check_finite(mu)) / check_positive(sigma))
gumbel_lpdf(y, mu, beta) = -log(beta) - (y - check_finite(mu)) / check_positive(beta) - exp((mu - y) / beta)
gumbel_lcdf(y, mu, beta) = -exp((check_finite(mu) - y) / check_positive(beta))
gumbel_lccdf(y, mu, beta) = log1m_exp(-exp((check_finite(mu) - y) / check_positive(beta)))
skew_normal_lpdf(y, xi, omega, alpha) =
    -0.225791352644727432363097614947 - log(omega) - 0.5 * square((y - check_finite(xi)) /
    check_positive(omega)) + std_normal_lcdf(check_finite(alpha) * ((y - xi) / omega))
skew_normal_lcdf(y, xi, omega, alpha) =
    log_skew_normal_cdf((y - check_finite(xi)) / check_positive(omega), check_finite(alpha))
skew_normal_lccdf(y, xi, omega, alpha) =
    log_skew_normal_cdf((check_finite(xi) - y) / check_positive(omega), -check_finite(alpha))
von_mises_lpdf(y, mu, kappa) =
    -1.83787706640934548356065947281 - log_modified_bessel_first_kind_scaled(0, check_nonnegative(kappa))
    - 2 * kappa * square(sin(0.5 * (y - check_finite(mu))))

# Continuous, of positive numbers.
lognormal_lpdf(y, mu, sigma) =
    if_else(y <= 0, negative_infinity(), -0.5 * square((log(y) - check_finite(mu)) /
    check_positive(sigma)) - log(sigma) - log(y) - 0.918938533204672741780329736406)
lognormal_lcdf(y, mu, sigma) =
    if_else(y <= 0, negative_infinity(), std_normal_lcdf((log(y) - check_finite(mu)) /
    check_positive(sigma)))
lognormal_lccdf(y, mu, sigma) =
    if_else(y <= 0, 0, std_normal_lccdf((log(y) - check_finite(mu)) / check_positive(sigma)))
exponential_lpdf(y, beta) = if_else(y < 0, negative_infinity(), log(check_positive(beta)) - beta * y)
exponential_lcdf(y, beta) = if_else(y <= 0, negative_infinity(), log1m_exp(-check_positive(beta) * y))
exponential_lccdf(y, beta) = if_else(y <= 0, 0, -check_positive(beta) * y)
gamma_lpdf(y, alpha, beta) =
    if_else(y < 0, negative_infinity(), multiply_log(check_positive(alpha) - 1, y) - check_positive(beta)
    * y + alpha * log(beta) - lgamma(alpha))
gamma_lcdf(y, alpha, beta) =
    if_else(y <= 0, negative_infinity(), log_gamma_p(check_positive(alpha), check_positive(beta) * y))
gamma_lccdf(y, alpha, beta) =
    if_else(y <= 0, 0, log_gamma_q(check_positive(alpha), check_positive(beta) * y))
inv_gamma_lpdf(y, alpha, beta) =
    if_else(y <= 0, negative_infinity(), -(check_positive(alpha) + 1) * log(y) - check_positive(beta) / y
    + alpha * log(beta) - lgamma(alpha))
inv_gamma_lcdf(y, alpha, beta) =
    if_else(y <= 0, negative_infinity(), log_gamma_q(check_positive(alpha), check_positive(beta) / y))
inv_gamma_lccdf(y, alpha, beta) =
    if_else(y <= 0, 0, log_gamma_p(check_positive(alpha), check_positive(beta) / y))
chi_square_lpdf(y, nu) =
    if_else(y < 0, negative_infinity(), multiply_log(0.5 * check_positive(nu) - 1, y) - 0.5 * y -
    0.346573590279972654708616060729 * nu - lgamma(0.5 * nu))
chi_square_lcdf(y, nu) =
    if_else(y <= 0, negative_infinity(), log_gamma_p(0.5 * check_positive(nu), 0.5 * y))
chi_square_lccdf(y, nu) = if_else(y <= 0, 0, log_gamma_q(0.5 * check_positive(nu), 0.5 * y))
weibull_lpdf(y, alpha, sigma) =
    if_else(y < 0, negative_infinity(), multiply_log(check_positive(alpha) - 1, y) - pow(y /
    check_positive(sigma), alpha) + log(alpha) - alpha * log(sigma))
weibull_lcdf(y, alpha, sigma) =
    if_else(y <= 0, negative_infinity(), log1m_exp(-pow(y / check_positive(sigma),
    check_positive(alpha))))
weibull_lccdf(y, alpha, sigma) = if_else(y <= 0, 0, -pow(y / check_positive(sigma), check_positive(alpha)))
frechet_lpdf(y, alpha, sigma) =
    if_else(y <= 0, negative_infinity(), -(check_positive(alpha) + 1) * log(y) - pow(y /
    check_positive(sigma), -alpha) + log(alpha) + alpha * log(sigma))
frechet_lcdf(y, alpha, sigma) =
    if_else(y <= 0, negative_infinity(), -pow(y / check_positive(sigma), -check_positive(alpha)))
frechet_lccdf(y, alpha, sigma) =
    if_else(y <= 0, 0, log1m_exp(-pow(y / check_positive(sigma), -check_positive(alpha))))
rayleigh_lpdf(y, sigma) =
    if_else(y < 0, negative_infinity(), log(y) - 0.5 * square(y / check_positive(sigma)) - 2 * log(sigma))
rayleigh_lcdf(y, sigma) =
    if_else(y <= 0, negative_infinity(), log1m_exp(-0.5 * square(y / check_positive(sigma))))
rayleigh_lccdf(y, sigma) = if_else(y <= 0, 0, -0.5 * square(y / check_positive(sigma)))
pareto_lpdf(y, y_min, alpha) =
    if_else(y < check_positive(y_min), negative_infinity(), log(check_positive(alpha)) + alpha *
    log(check_positive(y_min)) - (alpha + 1) * log(y))
pareto_lcdf(y, y_min, alpha) =
    if_else(y < check_positive(y_min), negative_infinity(), log1m_exp(-check_positive(alpha) * log1p((y -
    y_min) / check_positive(y_min))))
pareto_lccdf(y, y_min, alpha) =
    if_else(y < check_positive(y_min), 0, -check_positive(alpha) * log1p((y - y_min) /
    check_positive(y_min)))

# Continuous, on an interval.
beta_lpdf(y, alpha, beta) =
    if_else(y < 0 || y > 1, negative_infinity(), multiply_log(check_positive(alpha) - 1, y) +
    multiply_log1m(check_positive(beta) - 1, y) - lbeta(alpha, beta))
beta_lcdf(y, alpha, beta) =
    if_else(y <= 0, negative_infinity(), if_else(y >= 1, 0, log_inc_beta(check_positive(alpha),
    check_positive(beta), y)))
beta_lccdf(y, alpha, beta) =
    if_else(y <= 0, 0, if_else(y >= 1, negative_infinity(), log_inc_beta_complement(check_positive(alpha),
    check_positive(beta), y)))
beta_proportion_lpdf(y, mu, kappa) = beta_lpdf(y, mu * check_positive(kappa), (1 - mu) * kappa)
beta_proportion_lcdf(y, mu, kappa) = beta_lcdf(y, mu * check_positive(kappa), (1 - mu) * kappa)
beta_proportion_lccdf(y, mu, kappa) = beta_lccdf(y, mu * check_positive(kappa), (1 - mu) * kappa)
uniform_lpdf(y, alpha, beta) =
    if_else(alpha < beta && (y < alpha || y > beta), negative_infinity(), if_else(y >= alpha && y <= beta,
    -log(check_positive(beta - alpha)), not_a_number()))
uniform_lcdf(y, alpha, beta) =
    if_else(alpha < beta, if_else(y < alpha, negative_infinity(), if_else(y > beta, 0, log((y - alpha) /
    check_positive(beta - alpha)))), not_a_number())
uniform_lccdf(y, alpha, beta) =
    if_else(alpha < beta, if_else(y < alpha, 0, if_else(y > beta, negative_infinity(), log((beta - y) /
    check_positive(beta - alpha)))), not_a_number())

# Counts.
poisson_lpmf(int n, lambda) =
    if_else(n < 0, negative_infinity(), multiply_log(n, check_nonnegative(lambda)) - lambda - lgamma(n +
    1))
poisson_lcdf(int n, lambda) =
    if_else(n < 0, negative_infinity(), log_gamma_q(n + 1, check_nonnegative(lambda)))
poisson_lccdf(int n, lambda) = if_else(n < 0, 0, log_gamma_p(n + 1, check_nonnegative(lambda)))
poisson_log_lpmf(int n, alpha) = if_else(n < 0, negative_infinity(), n * alpha - exp(alpha) - lgamma(n + 1))
neg_binomial_lpmf(int n, alpha, beta) =
    if_else(n < 0, negative_infinity(), -lbeta(check_positive(alpha), n + 1) - log(n + alpha) - alpha *
    log1p(1 / check_positive(beta)) - n * log1p(beta))
neg_binomial_lcdf(int n, alpha, beta) =
    if_else(n < 0, negative_infinity(), if_else(beta > 1, log_inc_beta_complement(n + 1,
    check_positive(alpha), 1 / (1 + check_positive(beta))), log_inc_beta(check_positive(alpha), n + 1,
    check_positive(beta) / (1 + beta))))
neg_binomial_lccdf(int n, alpha, beta) =
    if_else(n < 0, 0, if_else(beta > 1, log_inc_beta(n + 1, check_positive(alpha), 1 / (1 +
    check_positive(beta))), log_inc_beta_complement(check_positive(alpha), n + 1, check_positive(beta) /
    (1 + beta))))
neg_binomial_2_lpmf(int n, mu, phi) =
    if_else(n < 0, negative_infinity(), -lbeta(check_positive(phi), n + 1) - log(n + phi) - phi *
    log1p(check_positive(mu) / phi) - n * log1p(phi / mu))
neg_binomial_2_lcdf(int n, mu, phi) =
    if_else(n < 0, negative_infinity(), if_else(phi > mu, log_inc_beta_complement(n + 1,
    check_positive(phi), check_positive(mu) / (mu + phi)), log_inc_beta(check_positive(phi), n + 1, phi /
    (check_positive(mu) + phi))))
neg_binomial_2_lccdf(int n, mu, phi) =
    if_else(n < 0, 0, if_else(phi > mu, log_inc_beta(n + 1, check_positive(phi), check_positive(mu) / (mu
    + phi)), log_inc_beta_complement(check_positive(phi), n + 1, phi / (check_positive(mu) + phi))))
neg_binomial_2_log_lpmf(int n, eta, phi) =
    if_else(n < 0, negative_infinity(), -lbeta(check_positive(phi), n + 1) - log(n + phi) - phi *
    log1p_exp(check_finite(eta) - log(phi)) - n * log1p_exp(log(phi) - eta))
bernoulli_lpmf(int n, theta) =
    if_else(n == 1, log(check_unit(theta)), if_else(n == 0, log1m(check_unit(theta)),
    negative_infinity()))
bernoulli_lcdf(int n, theta) =
    if_else(n < 0, negative_infinity(), if_else(n == 0, log1m(check_unit(theta)), 0))
bernoulli_lccdf(int n, theta) =
    if_else(n < 0, 0, if_else(n == 0, log(check_unit(theta)), negative_infinity()))
bernoulli_logit_lpmf(int n, alpha) =
    if_else(n == 0 || n == 1, log_inv_logit((2 * n - 1) * alpha), negative_infinity())
binomial_lpmf(int n, int N, theta) =
    if_else(n < 0 || n > N, if_else(N < 0, not_a_number(), negative_infinity()), lchoose(N, n) +
    multiply_log(n, check_unit(theta)) + multiply_log1m(N - n, check_unit(theta)))
binomial_lcdf(int n, int N, theta) =
    if_else(n < 0, negative_infinity(), if_else(n >= N, 0, log_inc_beta_complement(n + 1, N - n,
    check_unit(theta))))
binomial_lccdf(int n, int N, theta) =
    if_else(n < 0, 0, if_else(n >= N, negative_infinity(), log_inc_beta(n + 1, N - n, check_unit(theta))))
binomial_logit_lpmf(int n, int N, alpha) =
    if_else(n < 0 || n > N, if_else(N < 0, not_a_number(), negative_infinity()), lchoose(N, n) + n *
    log_inv_logit(alpha) + (N - n) * log1m_inv_logit(alpha))
beta_binomial_lpmf(int n, int N, alpha, beta) =
    if_else(n < 0 || n > N, if_else(N < 0, not_a_number(), negative_infinity()), lchoose(N, n) +
    if_else(fmin(check_positive(alpha), check_positive(beta)) > N, log_gamma_difference(alpha, n) +
    log_gamma_difference(beta, N - n) - log_gamma_difference(alpha + beta, N), lbeta(n +
    check_positive(alpha), N - n + check_positive(beta)) - lbeta(alpha, beta)))
)";

}  // namespace

std::map<std::string, Definition> read_definitions(const std::string& key, const std::string& text) {
  std::map<std::string, Definition> read;
  std::string definition_text;
  const auto finish = [&] {
    if (definition_text.empty()) return;
    Definition definition = parse_definition({key, definition_text});
    read[definition.name] = std::move(definition);
    definition_text.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != ' ') finish();
    definition_text += line;
  }
  finish();
  return read;
}

const std::map<std::string, Definition>& definitions() {
  static const std::map<std::string, Definition> all = read_definitions("densities", kText);
  return all;
}

}  // namespace emomc::expression
