#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "limber/result/recording.h"

namespace limber::result {
namespace {

// RFC 3720 (iSCSI), B.4, and the check value of the CRC catalogue.
TEST(Crc32c, AgreesWithPublishedValues) {
  std::vector<unsigned char> bytes(32, 0);
  EXPECT_EQ(crc32c(bytes.data(), 32), 0x8A9136AAu);
  bytes.assign(32, 0xFF);
  EXPECT_EQ(crc32c(bytes.data(), 32), 0x62A8AB43u);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  EXPECT_EQ(crc32c(bytes.data(), 32), 0x46DD794Eu);
  std::iota(bytes.rbegin(), bytes.rend(), static_cast<unsigned char>(0));
  EXPECT_EQ(crc32c(bytes.data(), 32), 0x113FDB5Cu);
  EXPECT_EQ(crc32c("123456789", 9), 0xE3069283u);
  EXPECT_EQ(crc32c(nullptr, 0), 0u);
}

std::uint32_t bit_by_bit(const unsigned char* data, std::size_t size) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) ? 0x82F63B78u : 0u);
  }
  return ~crc;
}

TEST(Crc32c, AgreesWithTheDefinitionAtEveryLengthAndAlignment) {
  std::vector<unsigned char> bytes(80);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(37 * i + 11);
  for (std::size_t begin = 0; begin < 9; ++begin)
    for (std::size_t size = 0; begin + size <= bytes.size(); ++size)
      ASSERT_EQ(crc32c(&bytes[begin], size), bit_by_bit(&bytes[begin], size)) << begin << " " << size;
}

TEST(Crc32c, ContinuesFromASeed) {
  const std::string text = "a line that is cut into two pieces";
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    ASSERT_EQ(crc32c(text.data() + cut, text.size() - cut, crc32c(text.data(), cut)),
              crc32c(text.data(), text.size()));
}

}  // namespace
}  // namespace limber::result
