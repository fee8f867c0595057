// The YAML that scenes are mostly written in, read in one pass: block mappings and lists, flow mappings and
// lists, plain and quoted texts on one line, comments. A text with anything else (anchors, tags, block texts,
// empty values, escapes, tabs, …) or with a mistake is left to the whole reader, which takes twenty times as
// long.
#pragma once

#include "limber/scene/tree_builder.h"

namespace limber::scene {

// False: it does not know what stands there; what it has built is to be thrown away. The nodes' texts are
// views of `text`.
bool read_plain(std::string_view text, TreeBuilder& out);

}  // namespace limber::scene
