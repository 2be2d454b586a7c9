// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "gpu/spec.h"

int main() {
  wavetail::gpu::GpuSpec gpu;
  gpu.gpcs = {18, 18, 18, 16, 16, 16, 16, 14};
  std::cout << gpu.sms() << "\n";
}
