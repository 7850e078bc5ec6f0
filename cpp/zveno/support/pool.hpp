// A few threads that wait for work. Fork-safe: a child process starts with a pool of its own.
#pragma once

#include <cstddef>

namespace zveno {

// Calls work(context, begin, end) over [0, count) in pieces of `chunk`, from `threads` threads (0: one per core); returns
// when all is done. A call made while another one holds the pool runs on the caller's thread.
void parallel_for(std::ptrdiff_t count, std::ptrdiff_t chunk, int threads,
                  void (*work)(void* context, std::ptrdiff_t begin, std::ptrdiff_t end), void* context);

}  // namespace zveno
