// llama.cpp's parsers recurse into nested values without limit: a text of nothing but brackets would overflow the stack
// of the thread that reads it. So every recursive parser is unrolled into a copy per level; beyond the last nothing
// matches.

#include "bounded-parser.hpp"

#include <map>
#include <set>
#include <vector>

namespace svc {
namespace {

using Id = common_peg_parser_id;

class Unrolling {
  public:
    explicit Unrolling(common_json saved) : arena(std::move(saved)) {
        for (const auto & parser : arena.at("parsers")) parsers.push_back(parser);
        root = target(arena.at("root").get<Id>());
        find_returns(root);
        for (const Id id : returned_to) spread(id);
    }

    common_json unrolled() {
        if (leads_back.count(root) == 0) return std::move(arena);
        parsers.push_back({{"type", "epsilon"}});
        nothing = parsers.size();
        parsers.push_back({{"type", "not"}, {"child", nothing - 1}});
        arena["root"] = copy(root, 0);
        common_json all = common_json::array();
        for (auto & parser : parsers) all.push_back(std::move(parser));
        arena["parsers"] = std::move(all);
        return std::move(arena);
    }

  private:
    // Follows references to the parser that they name.
    Id target(Id id) const {
        while (parsers[id].at("type").get<std::string>() == "ref") {
            id = arena.at("rules").at(parsers[id].at("name").get<std::string>()).get<Id>();
        }
        return id;
    }

    std::vector<Id> children(Id id) const {
        std::vector<Id> out;
        if (parsers[id].contains("children")) out = parsers[id].at("children").get<std::vector<Id>>();
        if (parsers[id].contains("child")) out.push_back(parsers[id].at("child").get<Id>());
        for (Id & child : out) child = target(child);
        return out;
    }

    // Walks all parsers. Records the users of each one, and which are reached again from within themselves.
    void find_returns(Id id) {
        seen.insert(id);
        inside.insert(id);
        for (const Id child : children(id)) {
            users[child].push_back(id);
            if (inside.count(child) > 0) returned_to.insert(child);
            else if (seen.count(child) == 0) find_returns(child);
        }
        inside.erase(id);
    }

    void spread(Id id) {
        if (!leads_back.insert(id).second) return;
        for (const Id user : users[id]) spread(user);
    }

    Id copy(Id id, int level) {
        if (leads_back.count(id) == 0) return id;
        if (returned_to.count(id) > 0 && ++level > DEEPEST) return nothing;
        const auto [entry, is_new] = copies.insert({{id, level}, parsers.size()});
        const Id made = entry->second;
        if (!is_new) return made;
        parsers.push_back(parsers[id]);
        std::vector<Id> inner = children(id);
        for (Id & child : inner) child = copy(child, level);
        if (parsers[made].contains("children")) parsers[made]["children"] = inner;
        else parsers[made]["child"] = inner.front();
        return made;
    }

    common_json arena;
    std::vector<common_json> parsers;
    Id root = 0, nothing = 0;
    std::set<Id> seen, inside, returned_to;
    // All parsers from which one in `returned_to` can be reached.
    std::set<Id> leads_back;
    std::map<Id, std::vector<Id>> users;
    std::map<std::pair<Id, int>, Id> copies;
};

} // namespace

common_peg_arena bounded_parser(const std::string & saved) {
    return common_peg_arena::from_json(Unrolling(common_json::parse(saved)).unrolled());
}

} // namespace svc
