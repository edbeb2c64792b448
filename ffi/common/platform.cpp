#include "platform.hpp"

#ifndef _WIN32

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace svc {

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

int receive(int fd, void * bytes, size_t size, int milliseconds) {
    pollfd readable = {fd, POLLIN, 0};
    if (poll(&readable, 1, milliseconds) <= 0) return 0;
    const ssize_t got = read(fd, bytes, size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    return got <= 0 ? -1 : static_cast<int>(got);
}

void tell(int fd, const std::string & line) { (void) !send(fd, line.data(), line.size(), MSG_DONTWAIT); }

int open_nowhere() { return open("/dev/null", O_WRONLY | O_CLOEXEC); }

std::string library_of(void * function) {
    Dl_info library;
    return dladdr(function, &library) ? library.dli_fname : "";
}

void * function_of(const std::string & library, const char * name) {
    void * opened = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
    return opened ? dlsym(opened, name) : nullptr;
}

void forget_variable(const char * name) { unsetenv(name); }

} // namespace svc

#else

#include "windows.hpp"

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cstdlib>

namespace svc {
namespace {

// Polling interval for a pipe: a blocking read would keep other threads from writing to it.
constexpr int LOOK_MS = 10;

HANDLE handle_of(int fd) { return reinterpret_cast<HANDLE>(_get_osfhandle(fd)); }

} // namespace

bool is_open(int fd) { return handle_of(fd) != INVALID_HANDLE_VALUE; }

int receive(int fd, void * bytes, size_t size, int milliseconds) {
    for (int left = milliseconds;; left -= LOOK_MS) {
        DWORD there = 0;
        if (!PeekNamedPipe(handle_of(fd), nullptr, 0, nullptr, &there, nullptr)) return -1;
        if (there > 0) {
            const bool has_read = ReadFile(handle_of(fd), bytes, static_cast<DWORD>(std::min<size_t>(size, there)), &there, nullptr);
            return has_read ? static_cast<int>(there) : -1;
        }
        if (left <= 0) return 0;
        Sleep(static_cast<DWORD>(std::min(left, LOOK_MS)));
    }
}

void tell(int fd, const std::string & line) {
    DWORD mode = PIPE_READMODE_BYTE | PIPE_NOWAIT;
    DWORD written = 0;
    if (!SetNamedPipeHandleState(handle_of(fd), &mode, nullptr, nullptr)) return;
    WriteFile(handle_of(fd), line.data(), static_cast<DWORD>(line.size()), &written, nullptr);
}

int open_nowhere() { return _open("NUL", _O_WRONLY | _O_NOINHERIT); }

std::string library_of(void * function) {
    HMODULE library = nullptr;
    char path[MAX_PATH] = "";
    const DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (!GetModuleHandleExA(how, static_cast<LPCSTR>(function), &library)) return "";
    return std::string(path, GetModuleFileNameA(library, path, sizeof path));
}

void * function_of(const std::string & library, const char * name) {
    // The file name alone: the path may contain characters that this ANSI function cannot take.
    const HMODULE opened = GetModuleHandleA(library.substr(library.find_last_of("/\\") + 1).c_str());
    return opened ? reinterpret_cast<void *>(GetProcAddress(opened, name)) : nullptr;
}

void forget_variable(const char * name) { _putenv_s(name, ""); }

} // namespace svc

#endif
