// Columns of the wire: little-endian arrays in protobuf `bytes` fields.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are little-endian; this machine is not");

namespace causeway {

constexpr int64_t kNever = INT64_MAX;

// Returns a column as an array of T; throws if its length is not a multiple of T's.
template <class T>
std::vector<T> numbers(const std::string &bytes) {
    if (bytes.size() % sizeof(T) != 0) throw std::runtime_error("a column does not hold whole numbers");
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

// Returns row i of a column.
template <class T>
inline T at(const std::string &bytes, size_t i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
}

// Returns row i of an optional column: 0 if the column is empty.
template <class T>
inline T at_or_zero(const std::string &bytes, size_t i) {
    return bytes.empty() ? T{0} : at<T>(bytes, i);
}

// Returns x and y of a position as the `ref` of a STATION event.
inline int64_t pack_position(int32_t x_mm, int32_t y_mm) {
    return static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(x_mm)) << 32) |
                                static_cast<uint32_t>(y_mm));
}

}  // namespace causeway
