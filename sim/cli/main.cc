// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include "cli/command.h"

int main(int argc, char** argv) {
  // A simulation's tables are some tens of megabytes. They are used again for the next one instead
  // of being given back to the system, which would clear them page by page.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  return wavetail::cli::main(argc, argv, WAVETAIL_VERSION);
}
