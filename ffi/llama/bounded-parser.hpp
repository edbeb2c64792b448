// Parsers of answers that end with the text, however it nests.
#pragma once

#include "state.hpp"

#include "peg-parser.h"

#include <string>

namespace svc {

// Returns of a parser to itself; a value inside another takes one or two. Clients' own JSON has at most 128 levels.
constexpr int DEEPEST = 200;

// The parser that was saved as `saved`, but for values inside one another deeper than DEEPEST: these do not follow the format.
common_peg_arena bounded_parser(const std::string & saved);

} // namespace svc
