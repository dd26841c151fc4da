// The programs on the pages of docs/, one function per page.
#pragma once

#include <stdexcept>
#include <string>

namespace pages {

void buckets();
void first();
void footprint();
void release();
void pools();
void graphs();
void green_contexts();
void kinds();
void races();
void plan();
void probe();
void profile();
void updates();
void capture();
void compare();
void compose();
void errors();
void faults();
void migrate();
void pictures();
void segments();
void text();
void topics();
void tracing();
void functions();
void ranks_agree();
void verify();

/// Writes `dot` to NAME.dot, if `pages --pictures FOLDER` asks for pictures. The site draws docs/pictures/.
void picture(const std::string& name, const std::string& dot);

/// Throws unless `value` is `expected`: each program checks its own results.
inline void expect(float value, float expected, const char* what) {
    if (value != expected)
        throw std::runtime_error(std::string(what) + " is " + std::to_string(value) + ", not " +
                                 std::to_string(expected));
}

} // namespace pages
