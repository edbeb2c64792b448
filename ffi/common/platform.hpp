// What systems do in ways of their own.
#pragma once

#include <cstddef>
#include <string>

namespace svc {

// The other end of `fd` is the parent's: a socket, or on Windows a pipe that goes both ways. Whether there is such a file; errno
// says why not.
bool is_open(int fd);
// Reads what has come, after waiting for that so long at most. Returns its length, 0 when nothing came, or negative when the
// other end is gone.
int receive(int fd, void * bytes, size_t size, int milliseconds);
// Writes without waiting: where nobody reads, nothing is written.
void tell(int fd, const std::string & line);

// A file that keeps nothing; negative where it cannot be opened.
int open_nowhere();
// Path of the library that a function is in; empty where that is not known.
std::string library_of(void * function);
// A function of a library that is open already; null where there is none.
void * function_of(const std::string & library, const char * name);
// Takes a variable out of this process's environment.
void forget_variable(const char * name);

} // namespace svc
