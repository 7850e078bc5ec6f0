// Docstrings (numpydoc) made from the rows of the tables around the paragraph and the example of their authors.
#pragma once

#include <string>

#include <zveno/functions/table.hpp>

namespace zveno::bindings {

// text wrapped at 100 columns behind `indent` spaces
inline std::string wrapped(const std::string& text, int indent) {
  std::string out, line;
  const std::string start(static_cast<std::size_t>(indent), ' ');
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() > 100) out += line + "\n", line.clear();
    line += (line.empty() ? start : " ") + word;
    at = end + 1;
  }
  return line.empty() ? out : out + line + "\n";
}

inline std::string shape_text(const Shape& shape) {
  std::string text = "(...";
  for (const Dim& d : shape) {
    const std::string size = kSizeNames[static_cast<int>(d.size)];
    text += ", " + (size.empty() ? std::to_string(d.factor) : d.factor == 1 ? size : std::to_string(d.factor) + " " + size);
  }
  return text + ")";
}

// as Python writes it; empty: there is none
inline std::string default_of(const FunctionRow& row, Param p) {
  if (p == Param::method) return row.methods.count ? "'" + std::string(row.methods[0].name) + "'" : "";
  if (p == Param::frame) return row.has(kInCutAxes) ? "'section'" : row.has(kInLinkAxes) ? "'link'" : "'world'";
  for (int i = 0; i < row.required; ++i)
    if (row.params[i] == p) return "";
  return is_array(p) ? "None" : option_of(p).fallback;
}

inline std::string unit_text(const Slot& s) { return std::string(s.unit) == "1" ? "" : std::string(", ") + s.unit; }

inline std::string parameter_doc(const FunctionRow& row, Param p) {
  if (is_array(p)) {
    const Slot& s = slot_of(p);
    const bool optional = !default_of(row, p).empty();
    return std::string(s.name) + " : " + shape_text(s.shape) + " array" + unit_text(s) + (optional ? ", optional" : "") +
           "\n" + wrapped(s.text, 4);
  }
  const OptionText& o = option_of(p);
  if (p == Param::method) {
    std::string names;
    for (const MethodName& m : row.methods) names += (names.empty() ? "'" : ", '") + std::string(m.name) + "'";
    return "method : {" + names + "}\n" + wrapped(row.method_text, 4);
  }
  if (p == Param::frame && row.has(kInCutAxes)) return "frame : {'section', 'link', 'world'}\n" + wrapped(o.text, 4);
  const bool tuple = p == Param::out && row.has(kSeveral) && !row.has(kOneBlock);
  return std::string(o.name) + " : " + (tuple ? "tuple of arrays, optional" : o.type) + "\n" + wrapped(o.text, 4);
}

inline std::string docstring_of(const FunctionRow& row) {
  constexpr Param common[] = {Param::wrt, Param::outputs, Param::on_error, Param::status, Param::out, Param::threads};
  constexpr int count = sizeof common / sizeof common[0];
  const int first = row.has(kAlsoBy) ? 0 : row.has(kSeveral) ? 1 : 2;
  std::string text = std::string(row.name) + "($self, /";
  for (const Param p : row.params) {
    const std::string fallback = default_of(row, p);
    text += std::string(", ") + name_of(p) + (fallback.empty() ? "" : "=" + fallback);
  }
  text += ", *";
  for (int i = first; i < count; ++i) text += std::string(", ") + name_of(common[i]) + "=" + option_of(common[i]).fallback;
  text += ")\n--\n\n" + wrapped(row.summary, 0);
  if (*row.notes) text += "\n" + wrapped(row.notes, 0);
  text += "\nParameters\n----------\n";
  for (const Param p : row.params) text += parameter_doc(row, p);
  for (int i = first; i < count; ++i) text += parameter_doc(row, common[i]);
  text += "\nReturns\n-------\n";
  if (row.has(kSeveral)) text += "result : " + std::string(row.result) + "\n    With attributes\n\n";
  for (const Slot& s : row.outputs) {
    const bool number = s.shape.count == 0;
    const std::string entry =
        std::string(s.name) + " : " + (number ? "float or (...) array" : shape_text(s.shape) + " array") + unit_text(s);
    if (row.has(kSeveral))
      text += "    - " + entry + ":\n" + wrapped(s.text, 6);
    else
      text += entry + "\n" + wrapped(s.text, 4);
  }
  if (row.has(kSolves))
    text +=
        "\nRaises\n------\nSingularityError\n    A joint moves no mass; `.joint` names it, `.row` the row of the batch.\n";
  if (*row.example) text += std::string("\nExamples\n--------\n") + row.example;
  return text;
}

}  // namespace zveno::bindings
