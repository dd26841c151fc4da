// A line that says how far the program is, for people only: nothing is printed unless stderr is a terminal.
#pragma once

#include <cstddef>

namespace example {

class Progress {
  public:
    /// Counts `total` of `what`, a singular: "frame". `what` is borrowed.
    Progress(const char* what, std::size_t total);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress(); // takes the line away again

    void show(std::size_t done) const;

  private:
    const char* what_;
    std::size_t total_;
    bool terminal_;
};

} // namespace example
