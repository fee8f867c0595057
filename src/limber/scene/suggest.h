// "did you mean …?" for a near-miss name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace limber::scene {

// Optimal string alignment distance (a swap of neighbours costs 1), or limit + 1 if it is larger than
// `limit`.
int edit_distance(std::string_view a, std::string_view b, int limit);

// Offered names one by one, keeps the nearest within a third of the length, at most 2 edits.
class Suggestion {
 public:
  explicit Suggestion(std::string_view wanted);
  void offer(std::string_view name);
  const std::string& best() const { return best_; }  // empty: nothing near
  std::string text() const;                          // "; did you mean \"knee\"?" or ""

 private:
  std::string wanted_, best_;
  int distance_;
};

}  // namespace limber::scene
