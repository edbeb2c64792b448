// Reads the weights in descriptions like stable-diffusion.cpp, whose regular expressions take seconds for long blanks and
// fail at a weight that is no number.

#include "state.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace image {
namespace {

constexpr float HEAVIER = 1.1f;
const std::string BREAK = "BREAK";
// In bytes. The time to find the tokens of a word grows with the square of its length; parts have tokens of their own.
constexpr size_t LONGEST_WORD = 128;

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Returns whether a word ends before `at`: at a blank, or at a mark of the scripts that have no blanks.
bool is_between_words(const std::string & text, size_t at) {
    return std::isspace(static_cast<unsigned char>(text[at])) || text.compare(at, 2, "\xe3\x80") == 0 || text.compare(at, 2, "\xef\xbc") == 0;
}

// Returns the length of `:NUMBER)` at `at`, and the number; 0 where there is none.
size_t read_weight(const std::string & text, size_t at, float & weight) {
    if (text[at] != ':') return 0;
    const char * number = text.c_str() + at + 1;
    const size_t digits = *number == '+' || *number == '-';
    const size_t end = text.find_first_not_of(".0123456789", at + 1 + digits);
    if (end == std::string::npos || text[end] != ')') return 0;
    char * read = nullptr;
    weight = std::strtof(number, &read);
    return read > number && std::isfinite(weight) ? end + 1 - at : 0;
}

// Returns the length of the piece of text at `at`: an escape, a sign, `BREAK`, or what is up to the next of these.
size_t length_of_piece(const std::string & text, size_t at) {
    if (text[at] == '\\') return at + 1 < text.size() && std::strchr("()[]\\", text[at + 1]) ? 2 : 1;
    if (text.compare(at, BREAK.size(), BREAK) == 0) {
        const size_t end = at + BREAK.size();
        return end < text.size() && is_word_character(text[end]) ? 1 : BREAK.size();
    }
    return std::max<size_t>(1, std::min(text.find_first_of("\\()[]:B", at), text.size()) - at);
}

// Joins neighbours of the same weight.
Parts joined(Parts && parts) {
    Parts all;
    for (auto & part : parts) {
        if (!all.empty() && all.back().second == part.second) all.back().first += part.first;
        else all.push_back(std::move(part));
    }
    return all;
}

// Divides words that are too long to be one.
Parts divided(const Parts & parts) {
    Parts all;
    for (const auto & [text, weight] : parts) {
        size_t start = 0, word = 0;
        for (size_t at = 0; at < text.size(); at++) {
            if (is_between_words(text, at)) word = at;
            const bool is_within_character = (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
            if (at - word < LONGEST_WORD || is_within_character) continue;
            all.emplace_back(text.substr(start, at - start), weight);
            start = word = at;
        }
        all.emplace_back(text.substr(start), weight);
    }
    return all;
}

} // namespace

Parts weighted_parts(const std::string & text) {
    Parts parts;
    std::vector<size_t> round, square;
    const auto close = [&](std::vector<size_t> & open, float factor) {
        for (size_t at = open.back(); at < parts.size(); at++) parts[at].second *= factor;
        open.pop_back();
    };
    for (size_t at = 0; at < text.size();) {
        float weight = 0;
        const size_t weight_length = read_weight(text, at, weight);
        const std::string piece = text.substr(at, weight_length > 0 ? weight_length : length_of_piece(text, at));
        at += piece.size();
        if (piece == "(") round.push_back(parts.size());
        else if (piece == "[") square.push_back(parts.size());
        else if (weight_length > 0) {
            if (!round.empty()) close(round, weight);
        } else if (piece == ")" && !round.empty()) close(round, HEAVIER);
        else if (piece == "]" && !square.empty()) close(square, 1 / HEAVIER);
        else if (piece == "\\(") parts.emplace_back("(", 1.0f);
        else parts.emplace_back(piece, piece == BREAK ? -1.0f : 1.0f);
    }
    while (!round.empty()) close(round, HEAVIER);
    while (!square.empty()) close(square, 1 / HEAVIER);
    if (parts.empty()) parts.emplace_back("", 1.0f);
    return divided(joined(std::move(parts)));
}

} // namespace image
