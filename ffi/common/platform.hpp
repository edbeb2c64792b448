// Functions whose implementation differs between operating systems.
#pragma once

#include <cstddef>
#include <string>

namespace svc {

// Returns whether `fd` is open; errno says why not. The parent has the other end of `fd`, a socket or on Windows a
// bidirectional pipe.
bool is_open(int fd);
// Waits at most `milliseconds` for data and reads it. Returns the number of bytes read, 0 when nothing arrived, or a
// negative number when the other end is closed.
int receive(int fd, void * bytes, size_t size, int milliseconds);
// Writes without blocking: the line is dropped when it does not fit.
void tell(int fd, const std::string & line);

// Opens the null device for writing. Returns a negative number when that fails.
int open_nowhere();
// Returns the path of the library that contains a function; empty when it is not known.
std::string library_of(void * function);
// Returns a function of a library that is already loaded; null when there is none.
void * function_of(const std::string & library, const char * name);
// Removes a variable from this process's environment.
void forget_variable(const char * name);

} // namespace svc
