// The bytes of checkpoints and of reduced models: numbers as they are in memory, lists and texts with their
// length before them. One writer and one reader for all of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace limber::result {

class StateWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    append(&value, sizeof value);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    append(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size() * sizeof(T));
  }
  std::string take() { return std::move(bytes_); }

 private:
  void append(const void* from, std::size_t n) { bytes_.append(static_cast<const char*>(from), n); }
  std::string bytes_;
};

// Believes nothing: a length is held against the bytes that are left before memory is taken for it, and a
// number that is not finite is refused, because sorting, pivoting and casting trip over it. Throws
// std::invalid_argument where the bytes are no such state; the bytes must outlive the reader.
class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  void get(T& value) {
    static_assert(std::is_arithmetic_v<T>);
    take(&value, sizeof value);
    check(value);
  }
  // Within low … high.
  template <class T>
  void get(T& value, T low, T high) {
    get(value);
    if (!(value >= low && value <= high)) out_of_range();
  }
  // As many as the list holds already.
  template <class T>
  void get(std::vector<T>& values) {
    if (length(sizeof(T)) != values.size())
      throw std::invalid_argument("state: bytes are of a system of another size");
    fill(values);
  }
  // As many as there are.
  template <class T>
  void get_any(std::vector<T>& values) {
    values.resize(length(sizeof(T)));
    fill(values);
  }
  void get(std::string& text) {
    text.resize(length(1));
    take(text.data(), text.size());
  }
  // Of a list whose items take at least so many bytes each.
  std::size_t length(std::size_t least) {
    std::uint64_t n = 0;
    get(n);
    if (n > (bytes_.size() - at_) / least) throw std::invalid_argument("state: bytes end too early");
    return static_cast<std::size_t>(n);
  }
  void end() const {
    if (at_ != bytes_.size()) throw std::invalid_argument("state: bytes are left over");
  }
  [[noreturn]] static void out_of_range() {
    throw std::invalid_argument("state: bytes hold a number that is out of range");
  }

 private:
  template <class T>
  static void check(const T& value) {
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value)) throw std::invalid_argument("state: a number is not finite");
  }
  template <class T>
  void fill(std::vector<T>& values) {
    take(values.data(), values.size() * sizeof(T));
    for (const T& value : values) check(value);
  }
  void take(void* to, std::size_t n) {
    if (bytes_.size() - at_ < n) throw std::invalid_argument("state: bytes end too early");
    if (n > 0) std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace limber::result
