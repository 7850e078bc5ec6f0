#include <zveno/rig/text.hpp>

#include <charconv>
#include <locale>
#include <sstream>

namespace zveno {

std::size_t read_character(std::string_view text, std::size_t at, unsigned& character) {
  if (at >= text.size()) return 0;
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t more = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  unsigned c = more == 0 ? lead : lead & (0x3fu >> more);
  if (more && (lead < 0xc2 || lead > 0xf4)) return 0;
  for (std::size_t i = 1; i <= more; ++i) {
    if (at + i >= text.size()) return 0;
    const auto next = static_cast<unsigned char>(text[at + i]);
    if (next >> 6 != 2) return 0;
    c = c << 6 | (next & 0x3fu);
  }
  if ((more == 2 && c < 0x800) || (more == 3 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c < 0xe000)) return 0;
  character = c;
  return more + 1;
}

void put_character(std::string& out, unsigned c) {
  const auto byte = [&](unsigned b) { out += static_cast<char>(b); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xc0 | c >> 6), byte(0x80 | (c & 0x3f));
  if (c < 0x10000) return byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
  byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f)), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
}

bool read_number(std::string_view text, double& x) {
#if defined(__cpp_lib_to_chars)
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  return error == std::errc() && end == text.data() + text.size();
#else
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  return static_cast<bool>(stream >> x);
#endif
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += part;
  return all;
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 60;
  if (text.size() <= kMost) return std::string(text);
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // no half of a character
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace zveno
