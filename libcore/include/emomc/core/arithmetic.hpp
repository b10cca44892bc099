// Version number of the arithmetic that draws depend on; a run that is resumed is checked against this
// number.
#pragma once

namespace emomc {

/// Incremented whenever a change alters a bit of a log density or of a draw in any engine. A run can be
/// resumed only with the version that started it. tests/libsampler/arithmetic_test.cpp detects a change for
/// `cpu` on processors with AVX2 or AVX-512 and for `cuda` on GPUs of compute capability 9; changes of
/// `reference` are not detected and must be declared by their author.
inline constexpr int kArithmetic = 6;

}  // namespace emomc
