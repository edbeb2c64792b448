// Grammars as llama.cpp writes them, changed as text.
#pragma once

#include "state.hpp"

#include <string>

namespace svc {

// Whether a sampler can be made of a grammar. Also of llama.cpp's own: those of large schemas exceed its limits.
bool compiles(const std::string & grammar);

// Renames every rule of a grammar, so that two grammars fit into one text.
std::string with_prefix(const std::string & grammar, const std::string & prefix);

// A forced call begins the answer: takes the free text that may stand before it out of the root rule. What is in
// parentheses is reasoning and stays.
std::string without_preamble(const std::string & grammar);

} // namespace svc
