#include "limber/result/report.h"

namespace limber::result {

const char* to_string(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::not_converged:
      return "not converged";
    case Status::diverged:
      return "diverged";
  }
  return "unknown";
}

}  // namespace limber::result
