// llama.cpp's RPC backend, compiled from its own sources as a compute backend that is loaded at run time. It is one unit
// here, for the one function that its server does not offer: to serve a connection that somebody else has accepted.

#include "ggml-backend-impl.h"
#include "ggml-cpp.h"
#include "ggml-impl.h"

#include <memory>

// Both files have one of their own.
#define RPC_DEBUG RPC_TRANSPORT_DEBUG
// A socket of somebody else's can be made by its own members alone.
#define private public
#include "ggml-rpc/transport.h"
#undef private
#include "ggml-rpc/transport.cpp"
#undef RPC_DEBUG
#undef LOG_DBG
#include "ggml-rpc/ggml-rpc.cpp"

// Serves a client that has connected to `fd`, with these backends as its devices, until it goes; closes it. What the client
// has allocated is free then. What it sends that is no message of the protocol ends the connection, or the process.
extern "C" __attribute__((visibility("default"))) void svc_rpc_serve(int fd, ggml_backend_t * backends, size_t count) {
    auto socket = std::make_shared<socket_t>(std::make_unique<socket_t::impl>(fd));
    rpc_serve_client(std::vector<ggml_backend_t>(backends, backends + count), nullptr, socket);
}
