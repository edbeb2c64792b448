#include "branches.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace svc {
namespace {

// Up to this many alternatives stay a flat list; src/json-schema counts with the same number.
constexpr size_t MOST_FLAT = 32;

// A literal, split into characters and escapes.
using Spelled = std::vector<std::string_view>;

size_t after_space(std::string_view text, size_t at, bool lines) {
    while (at < text.size()) {
        const char c = text[at];
        if (c == '#') {
            at = std::min(text.find_first_of("\r\n", at), text.size());
        } else if (c == ' ' || c == '\t' || (lines && (c == '\r' || c == '\n'))) {
            at++;
        } else {
            break;
        }
    }
    return at;
}

// Returns the size in bytes of the character or escape at `at`; 0 if there is none.
size_t spelling_size(std::string_view text, size_t at) {
    const unsigned char c = static_cast<unsigned char>(text[at]);
    if (c == '\\' && at + 1 < text.size()) {
        const char kind = text[at + 1];
        const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
        return at + 2 + digits <= text.size() ? 2 + digits : 0;
    }
    const size_t bytes = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    return at + bytes <= text.size() ? bytes : 0;
}

// Returns the position after the literal at `at`, or npos if there is none.
size_t read_literal(std::string_view text, size_t at, Spelled & literal) {
    if (at >= text.size() || text[at] != '"') return std::string::npos;
    for (at++; at < text.size() && text[at] != '"';) {
        const size_t size = spelling_size(text, at);
        if (size == 0) return std::string::npos;
        literal.push_back(text.substr(at, size));
        at += size;
    }
    return at < text.size() ? at + 1 : std::string::npos;
}

// Returns where the alternatives that begin at `at` end, or npos when not all of them are literals.
size_t read_literals(std::string_view text, size_t at, bool bracketed, std::vector<Spelled> & literals) {
    for (;;) {
        Spelled literal;
        const size_t end = read_literal(text, at, literal);
        if (end == std::string::npos) return end;
        literals.push_back(std::move(literal));
        at = after_space(text, end, bracketed);
        if (at == text.size()) return bracketed ? std::string::npos : at;
        if (text[at] == ')' && bracketed) return at;
        if ((text[at] == '\n' || text[at] == '\r') && !bracketed) return at;
        if (text[at] != '|') return std::string::npos;
        at = after_space(text, at + 1, true);
    }
}

// Returns a prefix for rule names that does not occur in the text, whatever a client wrote.
std::string unused_stem(std::string_view text) {
    static constexpr std::string_view word = "branch";
    // More digits than the number of names can have.
    static constexpr size_t longest = 9;
    std::set<size_t> used;
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at)) {
        at += word.size();
        size_t number = 0;
        size_t digits = 0;
        while (digits < longest && at + digits < text.size() && std::isdigit(static_cast<unsigned char>(text[at + digits]))) {
            number = number * 10 + static_cast<size_t>(text[at + digits++] - '0');
        }
        if (digits > 0) used.insert(number);
    }
    size_t number = 0;
    while (used.count(number) > 0) number++;
    return std::string(word) + std::to_string(number) + "-";
}

// A rule for the sorted literals from `first` to `last`, which are equal up to `from`.
struct Branch {
    size_t first, last, from, number;
};

class Branches {
public:
    explicit Branches(const std::string & grammar) : text(grammar), stem(unused_stem(text)) {}

    std::string whole() {
        std::string out;
        for (size_t at = 0; at < text.size();) {
            const bool bracketed = text[at] == '(';
            const bool begins = bracketed || text.substr(at, 3) == "::=";
            const size_t end = begins ? at + (bracketed ? 1 : 3) : behind(at);
            out += text.substr(at, end - at);
            at = begins ? list(end, bracketed, out) : end;
        }
        // Rules precede their use: llama.cpp counts names first read inside brackets as part of what these repeat.
        return rules + out;
    }

private:
    // Returns the position after an item that does not begin alternatives.
    size_t behind(size_t at) const {
        const char c = text[at];
        if (c == '#') return std::min(text.find_first_of("\r\n", at), text.size());
        if (c != '"' && c != '[' && c != '<') return at + 1;
        const char close = c == '"' ? '"' : c == '[' ? ']' : '>';
        size_t end = at + 1;
        while (end < text.size() && text[end] != close) end += text[end] == '\\' && close != '>' ? 2 : 1;
        return std::min(end + 1, text.size());
    }

    // Writes alternatives as rules if they are a long list of literals. Returns where to continue.
    size_t list(size_t at, bool bracketed, std::string & out) {
        std::vector<Spelled> literals;
        const size_t end = read_literals(text, after_space(text, at, true), bracketed, literals);
        if (end == std::string::npos || literals.size() <= MOST_FLAT) return at;
        std::sort(literals.begin(), literals.end());
        literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
        out += " " + stem + std::to_string(count);
        std::vector<Branch> open = {{0, literals.size(), 0, count++}};
        while (!open.empty()) {
            const Branch branch = open.back();
            open.pop_back();
            rules += stem + std::to_string(branch.number) + " ::= ";
            for (size_t first = branch.first; first < branch.last;) {
                if (first > branch.first) rules += " | ";
                first = alternative(literals, branch, first, open);
            }
            rules += "\n";
        }
        return end;
    }

    // Writes the alternative for all literals that begin like literal `first`. Returns the first literal that does not.
    size_t alternative(const std::vector<Spelled> & literals, const Branch & branch, size_t first, std::vector<Branch> & open) {
        const Spelled & one = literals[first];
        size_t last = first + 1;
        size_t to = branch.from;
        if (to < one.size()) {
            while (last < branch.last && literals[last][to] == one[to]) last++;
            const Spelled & other = literals[last - 1];
            while (to < one.size() && to < other.size() && one[to] == other[to]) to++;
        }
        rules += '"';
        for (size_t at = branch.from; at < to; at++) rules += one[at];
        rules += '"';
        if (last - first == 1) return last;
        rules += " " + stem + std::to_string(count);
        open.push_back({first, last, to, count++});
        return last;
    }

    const std::string_view text;
    const std::string stem;
    std::string rules;
    size_t count = 0;
};

} // namespace

std::string with_branches(const std::string & grammar) { return Branches(grammar).whole(); }

} // namespace svc
