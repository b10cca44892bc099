#include "chain_format.hpp"

#include <algorithm>

#include "bytes.hpp"
#include "emomc/core/errors.hpp"
#include "emomc/core/utf8.hpp"

namespace emomc {
namespace {

constexpr std::uint32_t kMaxBlocks = 1u << 20;
constexpr int kMaxExtent = 1 << 24;
constexpr std::size_t kMaxName = 256, kMaxAxes = 8;

template <class Enum>
Enum get_enum(Fields& fields, Enum last) {
  const auto value = fields.get<std::int32_t>();
  if (value < 0 || value > static_cast<int>(last)) throw DamagedBytes("an unknown kind of parameter");
  return static_cast<Enum>(value);
}

int get_axis(Fields& fields, std::size_t num_axes) {
  const auto axis = fields.get<std::int32_t>();
  if (axis < -1 || axis >= static_cast<int>(num_axes)) throw DamagedBytes("an impossible axis");
  return axis;
}

std::string get_name(Fields& fields) {
  auto name = fields.get<std::string>();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
  if (name.empty() || name.size() > kMaxName || !is_utf8(name) ||
      std::any_of(name.begin(), name.end(), is_control))
    throw DamagedBytes("an impossible name");
  return name;
}

void put_layout(std::string& out, const ParameterLayout& layout) {
  put(out, static_cast<std::uint32_t>(layout.blocks.size()));
  for (const auto& block : layout.blocks) {
    put(out, block.name);
    put(out, block.shape);
    for (int field : {static_cast<int>(block.support), static_cast<int>(block.unit),
                      static_cast<int>(block.influence), block.component_axis, block.feature_axis})
      put(out, static_cast<std::int32_t>(field));
  }
}

ParameterLayout get_layout(Fields& fields) {
  ParameterLayout layout;
  const auto count = fields.get<std::uint32_t>();
  if (count > kMaxBlocks) throw DamagedBytes("too many parameter blocks");
  std::int64_t dim = 0;
  for (std::uint32_t b = 0; b < count; ++b) {
    ParameterBlock block;
    block.name = get_name(fields);
    block.shape = fields.get<std::vector<int>>();
    if (block.shape.size() > kMaxAxes) throw DamagedBytes("an impossible shape");
    std::int64_t size = 1;
    for (int extent : block.shape) {
      if (extent < 1 || extent > kMaxExtent) throw DamagedBytes("an impossible shape");
      size *= extent;
      if (size > kMaxExtent) throw DamagedBytes("an impossible shape");
    }
    const auto n = block.shape.size();
    block.support = get_enum(fields, Support::circular);
    block.unit = get_enum(fields, DataUnit::rate);
    block.influence = get_enum(fields, Influence::nothing);
    block.component_axis = get_axis(fields, n);
    block.feature_axis = get_axis(fields, n);
    if (block.support == Support::covariance && (n < 2 || block.shape[n - 1] != block.shape[n - 2]))
      throw DamagedBytes("an impossible shape");
    dim += block.size();
    if (dim > kMaxExtent) throw DamagedBytes("too many parameters");
    layout.blocks.push_back(block);
  }
  return layout;
}

}  // namespace

std::string encode_header(const ChainHeader& header) {
  std::string body;
  put(body, header.chain_id);
  put(body, header.seed);
  put(body, header.warmup);
  put(body, header.thin);
  put_layout(body, header.layout);
  put(body, static_cast<std::uint32_t>(header.block_names.size()));
  for (const auto& name : header.block_names) put(body, name);
  std::string out(kChainMagic);
  put(out, static_cast<std::uint32_t>(body.size()));
  put(out, crc32c(body));
  return out + body;
}

ChainHeader decode_header(std::string_view content, const std::string& name, std::size_t* bytes) {
  if (content.substr(0, kChainMagic.size()) != kChainMagic)
    throw InputError(name + ": this is no emomc chain file");
  try {
    Fields prefix(content.substr(kChainMagic.size()));
    const auto length = prefix.get<std::uint32_t>();
    const auto crc = prefix.get<std::uint32_t>();
    if (prefix.left() < length) throw DamagedBytes("the header is cut off");
    const std::string_view body = content.substr(kChainMagic.size() + 8, length);
    if (crc32c(body) != crc) throw DamagedBytes("the header's checksum is wrong");
    Fields fields(body);
    ChainHeader header;
    header.chain_id = fields.get<std::uint64_t>();
    header.seed = fields.get<std::uint64_t>();
    header.warmup = fields.get<std::int64_t>();
    header.thin = fields.get<std::int64_t>();
    if (header.warmup < 0 || header.thin < 1) throw DamagedBytes("an impossible number of steps");
    header.layout = get_layout(fields);
    const auto count = fields.get<std::uint32_t>();
    if (count > kMaxBlocks) throw DamagedBytes("too many proposal blocks");
    for (std::uint32_t i = 0; i < count; ++i) header.block_names.push_back(get_name(fields));
    *bytes = kChainMagic.size() + 8 + length;
    return header;
  } catch (const DamagedBytes& damage) {
    throw InputError(name + ": damaged chain file: " + damage.what());
  }
}

std::string encode_block(std::uint32_t type, std::uint32_t num_records, std::uint64_t first_record,
                         std::string_view payload) {
  std::string out;
  out.reserve(kBlockHeaderBytes + payload.size());
  put(out, type);
  put(out, static_cast<std::uint32_t>(payload.size()));
  put(out, num_records);
  put(out, first_record);
  put(out, crc32c(payload, crc32c(out)));
  out += payload;
  return out;
}

}  // namespace emomc
