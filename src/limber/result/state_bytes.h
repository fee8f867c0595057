// The bytes of a method's state, for checkpoints: numbers as they are in memory, lists with their length
// before them.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
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

// Throws std::invalid_argument where the bytes are no such state.
class StateReader {
 public:
  explicit StateReader(const std::string& bytes) : bytes_(bytes) {}
  template <class T>
  void get(T& value) {
    static_assert(std::is_arithmetic_v<T>);
    take(&value, sizeof value);
  }
  // As many as the list holds already.
  template <class T>
  void get(std::vector<T>& values) {
    std::uint64_t n = 0;
    get(n);
    if (n != values.size()) throw std::invalid_argument("state: bytes are of a system of another size");
    take(values.data(), values.size() * sizeof(T));
  }
  // As many as there are.
  template <class T>
  void get_any(std::vector<T>& values) {
    std::uint64_t n = 0;
    get(n);
    if (n > (bytes_.size() - at_) / sizeof(T)) throw std::invalid_argument("state: bytes end too early");
    values.resize(n);
    take(values.data(), values.size() * sizeof(T));
  }
  std::size_t left() const { return bytes_.size() - at_; }
  void end() const {
    if (at_ != bytes_.size()) throw std::invalid_argument("state: bytes are left over");
  }

 private:
  void take(void* to, std::size_t n) {
    if (bytes_.size() - at_ < n) throw std::invalid_argument("state: bytes end too early");
    if (n > 0) std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace limber::result
