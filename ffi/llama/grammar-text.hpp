// Edits the text of grammars that llama.cpp writes.
#pragma once

#include "state.hpp"

#include <string>

namespace svc {

// Returns whether a sampler can be made from a grammar. llama.cpp's own grammars for large schemas exceed its limits.
bool compiles(const std::string & grammar);

// Adds a prefix to the name of every rule, so that two grammars fit into one text.
std::string with_prefix(const std::string & grammar, const std::string & prefix);

// Removes the free text that may precede a call from the root rule, because a forced call must begin the answer. Text
// in parentheses is reasoning and stays.
std::string without_preamble(const std::string & grammar);

} // namespace svc
