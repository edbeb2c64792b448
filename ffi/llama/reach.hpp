// Members that llama.cpp keeps to itself and has no public call for: the place of each is that in the headers which the libraries
// were built from. In this namespace, `using M = Type Class::*; M reach(M); template struct Reach<M, &Class::member>;` makes
// `object.*reach(M{})`.
#pragma once

namespace svc {

template <typename Member, Member member> struct Reach {
    friend Member reach(Member) { return member; }
};

} // namespace svc
