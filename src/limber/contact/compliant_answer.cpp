#include "limber/contact/compliant_answer.h"

namespace limber::contact {

void CompliantAnswer::move(const std::vector<Vec3>& f, std::vector<Vec3>& u) {
  stiff->move(f, u);
  for (std::size_t k = 0; k < f.size(); ++k) u[k][0] += give[k] * f[k][0];
}

bool CompliantAnswer::stiffen(const std::vector<Mat3>& K) {
  K_.assign(K.begin(), K.end()), softened_.assign(K.begin(), K.end());
  for (std::size_t k = 0; k < K.size(); ++k) {
    const Vec3 n = K[k].col(0);
    softened_[k] -= give[k] / (1 + give[k] * n[0]) * n * n.transpose();
  }
  return stiff->stiffen(softened_);
}

void CompliantAnswer::move_stiff(const std::vector<Vec3>& f, std::vector<Vec3>& u) {
  force_.assign(f.begin(), f.end());
  for (std::size_t k = 0; k < f.size(); ++k)
    force_[k] -= give[k] * f[k][0] / (1 + give[k] * K_[k](0, 0)) * K_[k].col(0);
  stiff->move_stiff(force_, u);
  for (std::size_t k = 0; k < f.size(); ++k)
    u[k][0] += give[k] * (f[k][0] - K_[k].row(0).dot(u[k])) / (1 + give[k] * K_[k](0, 0));
}

}  // namespace limber::contact
