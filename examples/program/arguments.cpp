// The arguments of a program: values, and what is wrong with them.
#include "arguments.hpp"

namespace example {

const std::string& Arguments::value() {
    if (rest_ == end_) {
        throw BadInput(name() + " needs a value; see --help");
    }
    return *rest_++;
}

int Arguments::number(int least, int most) {
    const std::string& text = value();
    int found = 0;
    if (!parse(text, found) || found < least || found > most) {
        throw BadInput(name() + " takes a number from " + std::to_string(least) + " to " + std::to_string(most) +
                       ", not '" + text + "'");
    }
    return found;
}

void Arguments::refuse() const {
    throw BadInput("unknown option '" + name() + "'; see --help");
}

} // namespace example
