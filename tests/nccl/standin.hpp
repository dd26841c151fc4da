// What tests ask NCCL's stand-in for, beside NCCL's functions.
#pragma once

namespace standin {

/// Returns the number of communicators that are not destroyed.
int communicators();

/// Whether communicators refuse to tell their number of ranks.
void hide_ranks(bool are_hidden);

} // namespace standin
