// The number of the arithmetic that draws depend on.
#pragma once

namespace emomc {

/// Raised whenever a log density or a draw of any engine changes a bit: a run goes on only with the
/// arithmetic it began with. tests/libsampler/arithmetic_test.cpp says when, of `cpu` on processors with
/// AVX2 or AVX-512, of `cuda` on GPUs of compute capability 9; of `reference` whoever changes it has to.
inline constexpr int kArithmetic = 3;

}  // namespace emomc
