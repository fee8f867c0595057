// CRC-32C (Castagnoli), reflected polynomial 0x82F63B78, eight bytes at a time by eight tables
// ("slicing-by-8", Kounavis and Berry 2005): table k gives the effect of a byte that is followed by k zero
// bytes.
#include <array>
#include <bit>
#include <cstring>

#include "limber/result/recording.h"

namespace limber::result {
namespace {

static_assert(std::endian::native == std::endian::little, "the frames file and the tables are little endian");

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) ? 0x82F63B78u : 0u);
    table[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      table[k][byte] = (table[k - 1][byte] >> 8) ^ table[0][table[k - 1][byte] & 0xFFu];
  return table;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t size, std::uint32_t seed) {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint32_t crc = ~seed;
  for (; size >= 8; at += 8, size -= 8) {
    std::uint32_t low, high;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = tables[7][low & 0xFFu] ^ tables[6][(low >> 8) & 0xFFu] ^ tables[5][(low >> 16) & 0xFFu] ^
          tables[4][low >> 24] ^ tables[3][high & 0xFFu] ^ tables[2][(high >> 8) & 0xFFu] ^
          tables[1][(high >> 16) & 0xFFu] ^ tables[0][high >> 24];
  }
  for (; size > 0; ++at, --size) crc = (crc >> 8) ^ tables[0][(crc ^ *at) & 0xFFu];
  return ~crc;
}

}  // namespace limber::result
