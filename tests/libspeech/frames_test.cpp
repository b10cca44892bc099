// Compares dropped frames and derivatives with results computed by hand.
#include <gtest/gtest.h>

#include <limits>

#include "emomc/core/errors.hpp"
#include "emomc/speech/mfcc.hpp"
#include "synthetic_recording.hpp"

namespace emomc {
namespace {

constexpr double kSilence = -std::numeric_limits<double>::infinity();

TEST(DropFrames, RemovesSilentAndRepeatedRows) {
  Frames frames{2, {1, 2, 3, 4, 3, 4, 5, 6, 7, 8, 3, 4}};
  const Dropped dropped = drop_frames(frames, std::vector<double>{-10, -20, -20, kSilence, -90, -20}, {});
  EXPECT_EQ(frames.values, (std::vector<double>{1, 2, 3, 4, 7, 8, 3, 4}));
  EXPECT_EQ(dropped.silent, 2u);
  EXPECT_EQ(dropped.unvoiced, 0u);
}

TEST(DropFrames, RemovesWhatLiesBelowTheGate) {
  Frames frames{1, {1, 2, 3, 4, 5}};
  const Dropped dropped = drop_frames(frames, std::vector<double>{-50, -20, -51, kSilence, -49}, {30});
  EXPECT_EQ(frames.values, (std::vector<double>{1, 2, 5}));
  EXPECT_EQ(dropped.silent, 1u);
  EXPECT_EQ(dropped.unvoiced, 1u);
}

TEST(DropFrames, MayLeaveNone) {
  Frames frames{1, {4, 4, 4}};
  EXPECT_EQ(drop_frames(frames, std::vector<double>(3, kSilence), {30}).silent, 3u);
  EXPECT_EQ(frames.num_frames(), 0u);
  EXPECT_EQ(drop_frames(frames, {}, {30}).silent, 0u);
}

TEST(DropFrames, RefusesANegativeThreshold) {
  Frames frames{1, {1}};
  EXPECT_THROW(drop_frames(frames, std::vector<double>{0}, {-1}), InputError);
  EXPECT_THROW(drop_frames(frames, std::vector<double>{0}, {std::nan("")}), InputError);
}

// The recording has a quarter of a second of digital silence, at 100 frames per second: 23 windows of 25 ms
// are inside it.
TEST(DropFrames, FindsDigitalSilenceInARecording) {
  const Recording recording = testing::synthetic_recording(16000);
  std::vector<double> energy_db;
  Frames frames = MfccExtractor({}, 16000).extract(recording.samples, &energy_db);
  const Dropped dropped = drop_frames(frames, energy_db, {});
  EXPECT_EQ(dropped.silent, 23u);
  EXPECT_EQ(frames.num_frames(), 98u - 23u);
}

TEST(AppendDeltas, RegressesOverNeighboursAndRepeatsTheEnds) {
  // With reach 1 the derivative is (c[t+1] - c[t-1]) / 2, computed from 1 1 2 4 8 8.
  Frames frames{1, {1, 2, 4, 8}};
  append_deltas(frames, 1, 1);
  EXPECT_EQ(frames.dim, 2);
  EXPECT_EQ(frames.values, (std::vector<double>{1, 0.5, 2, 1.5, 4, 3, 8, 2}));
  // With reach 2 the derivative is (c[t+1] - c[t-1] + 2 (c[t+2] - c[t-2])) / 10, computed from 1 1 1 2 4 8 8
  // 8.
  frames = {1, {1, 2, 4, 8}};
  append_deltas(frames, 1);
  const std::vector<double> expected{1, (1 + 2 * 3) / 10., 2, (3 + 2 * 7) / 10.,
                                     4, (6 + 2 * 7) / 10., 8, (4 + 2 * 6) / 10.};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(frames.values[i], expected[i], 1e-14);
}

TEST(AppendDeltas, OfOrder2AreDeltasOfDeltasBehindThem) {
  Frames frames{2, {1, 10, 2, 10, 4, 10, 8, 10}};
  append_deltas(frames, 2, 1);
  EXPECT_EQ(frames.dim, 6);
  EXPECT_EQ(frames.values, (std::vector<double>{1, 10, 0.5, 0, 0.5,  0,  //
                                                2, 10, 1.5, 0, 1.25, 0,  //
                                                4, 10, 3,   0, 0.25, 0,  //
                                                8, 10, 2,   0, -0.5, 0}));
}

TEST(AppendDeltas, OfFewFramesAreZeroOrNone) {
  Frames frames{1, {3}};
  append_deltas(frames, 1, 5);
  EXPECT_EQ(frames.values, (std::vector<double>{3, 0}));
  Frames none{2, {}};
  append_deltas(none, 2);
  EXPECT_EQ(none.dim, 6);
  EXPECT_EQ(none.num_frames(), 0u);
}

TEST(AppendDeltas, OfOrder0DoNothingAndOthersAreRefused) {
  Frames frames{1, {3, 4}};
  append_deltas(frames, 0);
  EXPECT_EQ(frames.values, (std::vector<double>{3, 4}));
  EXPECT_THROW(append_deltas(frames, 3), InputError);
  EXPECT_THROW(append_deltas(frames, -1), InputError);
  EXPECT_THROW(append_deltas(frames, 1, 0), InputError);
  EXPECT_THROW(append_deltas(frames, 1, 1000), InputError);
}

}  // namespace
}  // namespace emomc
