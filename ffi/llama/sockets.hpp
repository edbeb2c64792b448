// Socket functions that differ on Windows.
#pragma once

#ifdef _WIN32

#include <winsock2.h>
#include <ws2tcpip.h>

#include <string>
#include <system_error>

namespace svc {

inline void start_sockets() {
    WSADATA data;
    WSAStartup(MAKEWORD(2, 2), &data);
}
inline void close_socket(int fd) { closesocket(static_cast<SOCKET>(fd)); }
// Not needed: Windows does not block a recently used address, and with the option another program could take it.
inline void reuse_address(int) {}
inline void set_option(int fd, int level, int option, int value) {
    setsockopt(static_cast<SOCKET>(fd), level, option, reinterpret_cast<const char *>(&value), sizeof value);
}
inline bool is_readable(int fd, int milliseconds) {
    pollfd readable = {static_cast<SOCKET>(fd), POLLIN, 0};
    return WSAPoll(&readable, 1, milliseconds) > 0;
}
inline std::string socket_error() { return std::system_category().message(WSAGetLastError()); }

} // namespace svc

#else

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace svc {

inline void start_sockets() {}
inline void close_socket(int fd) { close(fd); }
inline void set_option(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }
inline void reuse_address(int fd) { set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1); }
inline bool is_readable(int fd, int milliseconds) {
    pollfd readable = {fd, POLLIN, 0};
    return poll(&readable, 1, milliseconds) > 0;
}
inline std::string socket_error() { return std::strerror(errno); }

} // namespace svc

#endif
