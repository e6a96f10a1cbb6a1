// SPDX-License-Identifier: Apache-2.0
// The loop of every search: over arrangements of a plan, lengths of slices, options and schedules.
#pragma once

#include <functional>
#include <vector>

namespace aotc {

// When a proposer proposes anew.
enum class Again {
  kNever,
  kAfterSuccess,  // after the first success; the candidates behind it are dropped
  kAfterAll,      // after all of its candidates, if one of them was a success
};

// Names candidates that are worth a try, given what the search has found so far.
template <typename Candidate>
struct Proposer {
  std::function<std::vector<Candidate>()> propose;
  Again again = Again::kNever;
};

// Tries the candidates of each proposer, in this order. `attempt` makes a candidate and returns true if it is a
// success: the best one so far. A search ends because a proposer names no candidate, or no candidate is a success.
template <typename Candidate>
void search(const std::vector<Proposer<Candidate>>& proposers, const std::function<bool(const Candidate&)>& attempt) {
  for (const Proposer<Candidate>& proposer : proposers)
    for (bool again = true; again;) {
      bool success = false;
      for (const Candidate& candidate : proposer.propose()) {
        success = attempt(candidate) || success;
        if (success && proposer.again == Again::kAfterSuccess) break;
      }
      again = success && proposer.again != Again::kNever;
    }
}

}  // namespace aotc
