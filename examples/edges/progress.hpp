// A line that says how far the program is, for people only: nothing is printed unless stderr is a terminal.
#pragma once

#include <cstddef>

namespace edges {

class Progress {
  public:
    explicit Progress(std::size_t total);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress(); // takes the line away again

    void show(std::size_t done) const;

  private:
    std::size_t total_;
    bool terminal_;
};

} // namespace edges
