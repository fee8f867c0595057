// One record of the frames file (recording.h) in memory, and the check of all records of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "limber/result/files.h"
#include "limber/result/snapshot.h"

namespace limber::result {

inline constexpr char file_magic[] = "LIMBFRM1";
inline constexpr std::size_t magic_size = 8;

enum class RecordKind : std::uint32_t { layout = 1, frame = 2 };

struct RecordHeader {
  std::uint32_t kind = 0;
  std::uint32_t crc = 0;
  std::uint64_t length = 0;  // of the payload
};
static_assert(sizeof(RecordHeader) == 16);

// Whole record of a frame, the same for all of a file; throws std::invalid_argument above largest_record.
inline constexpr std::uint64_t largest_record = std::uint64_t{1} << 32;
std::size_t frame_record_size(const Layout& layout);

// Fills `record` (frame_record_size bytes). Throws std::invalid_argument if the snapshot does not fit the
// layout.
void encode_frame(std::uint64_t index, const Snapshot& snapshot, const Layout& layout,
                  std::vector<std::byte>& record);
// Kind, length, checksum and index are as they must be.
bool valid_frame(const std::byte* record, std::size_t record_size, std::uint64_t index);
void decode_frame(const std::byte* record, const Layout& layout, Snapshot& snapshot);

// Magic and layout record.
std::vector<std::byte> encode_head(const Layout& layout);
// The layout of a file and where its first frame begins; throws IoError.
struct Head {
  Layout layout;
  std::uint64_t end = 0;
};
Head read_head(const File& file);

// Checks every frame from byte `begin` on. The bad record of a killed writer is the last one; after a power
// cut only zeros may follow it. All else is damage: IoError.
struct Frames {
  std::uint64_t count = 0;  // complete and right
  bool torn = false;        // bytes follow that are no frame
};
Frames check_frames(const File& file, std::uint64_t begin, std::size_t record_size);

}  // namespace limber::result
