// Access to private members for which llama.cpp has no public call: their offsets are those of the headers that the
// libraries were built from. In this namespace,
// `using M = Type Class::*; M reach(M); template struct Reach<M, &Class::member>;` enables `object.*reach(M{})`.
#pragma once

namespace svc {

template <typename Member, Member member> struct Reach {
    friend Member reach(Member) { return member; }
};

} // namespace svc
