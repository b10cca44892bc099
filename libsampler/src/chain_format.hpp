// Encoding of chain files (docs/chain-format.md): a header, followed by blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "emomc/sampler/run_directory.hpp"

namespace emomc {

inline constexpr std::string_view kChainMagic = "EMOMCCH1";
inline constexpr std::uint32_t kDrawBlock = 0x57415244;        // "DRAW"
inline constexpr std::uint32_t kAcceptanceBlock = 0x50434341;  // "ACCP"
inline constexpr std::uint32_t kWarmupBlock = 0x4D524157;      // "WARM"
inline constexpr std::uint32_t kStatisticsBlock = 0x54415453;  // "STAT"

/// Number of bytes of a block's header: type, bytes of the payload, number of records, index of the first
/// record, and CRC-32C of these fields and the payload.
inline constexpr std::size_t kBlockHeaderBytes = 4 + 4 + 4 + 8 + 4;

/// Returns a header: magic, length and CRC-32C of the body, body.
std::string encode_header(const ChainHeader& header);
/// Reads the header at the front of `content` and writes its length to `bytes`. Throws InputError with
/// `name`.
ChainHeader decode_header(std::string_view content, const std::string& name, std::size_t* bytes);

/// Returns a block: its header and the payload.
std::string encode_block(std::uint32_t type, std::uint32_t num_records, std::uint64_t first_record,
                         std::string_view payload);

/// Numbers of bytes of one record of each kind of block.
inline std::size_t draw_bytes(const ChainHeader& header) {
  return 3 * 8 + 8 * static_cast<std::size_t>(header.layout.dim());
}
inline constexpr std::size_t kWarmupBytes = 8 + 8;
inline constexpr std::size_t kStatisticsBytes = 3 * 8 + 4 * 4;
inline std::size_t acceptance_bytes(const ChainHeader& header) { return 8 + 16 * header.block_names.size(); }

}  // namespace emomc
