// Pairs of scenes that prove the cells of the matrix of features (features_test.cpp).
#pragma once

#include <string>
#include <vector>

namespace limber::scene {

// `with` has a § before the place that a refusal must name; it is taken out before the text is read.
struct FeatureCase {
  const char* feature;
  std::string with, without;
  bool in_both = false;    // `without` uses the feature too, with another value
  bool may_agree = false;  // although it is honoured
};

std::vector<FeatureCase> feature_cases();

}  // namespace limber::scene
