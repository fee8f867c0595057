#include "limber/thread/system.h"
namespace limber::thread {
void other_elements(const SystemData&, const double*, int, bool, double, WorkspaceData&) {}
}
