// The viewer's page, as it was built from viewer/; empty if that could not be built.
#pragma once

#include <string_view>

namespace limber::cli {

std::string_view viewer_page();
inline constexpr char page_is_missing[] =
    "this limber was built without its viewer: install Node.js 18 or later and npm, then build again";

}  // namespace limber::cli
