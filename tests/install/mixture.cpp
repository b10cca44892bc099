// The posterior of a mixture of two Gaussians with full covariances: mixture TABLE.csv
#include <emomc/posterior.hpp>
#include <iostream>

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "faithful.csv";
  auto posterior =
      emomc::Posterior(emomc::GaussianMixture{.components = 2, .covariance = emomc::Covariance::full},
                       emomc::read_table(file));
  auto draws = emomc::sample(posterior, {.chains = 4, .seed = 1});
  std::cout << emomc::summary(draws);
  return emomc::is_trusted(emomc::diagnose(draws)) ? 0 : 1;
}
