// SPDX-License-Identifier: Apache-2.0
// A tree of nodes as the text of a YAML file: maps of maps as indented sections, long values and
// lists on one line. What is read back is the same tree; comments and anchors of the file that it
// came from are not kept.
#pragma once

#include <string>

#include "config/node.h"

namespace wavetail::config {

[[nodiscard]] std::string to_yaml(const Node& root);

}  // namespace wavetail::config
