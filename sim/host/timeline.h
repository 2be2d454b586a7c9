// SPDX-License-Identifier: Apache-2.0
// What the host thread does, as plain values: launches, graphs, synchronisations, work of its own.
// Indices refer to the scenario's list of kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "unit/quantity.h"

namespace wavetail::host {

enum class ItemKind : std::uint8_t { Launch, Graph, SyncDevice, SyncStream, HostWork, Repeat };

struct Item {
  ItemKind kind = ItemKind::Launch;
  int kernel = -1;              // Launch
  int stream = 0;               // Launch, Graph, SyncStream
  std::int64_t repeat = 1;      // Launch, Graph, Repeat
  unit::Duration work = {};     // HostWork
  std::vector<Item> body = {};  // Graph (launches only), Repeat (anything)

  bool operator==(const Item&) const = default;
};

struct HostCosts {
  unit::Duration launch;        // CPU time per launch call
  unit::Duration graph_launch;  // CPU time per graph launch
  unit::Duration sync;  // CPU time to return from a synchronisation after the device is done

  bool operator==(const HostCosts&) const = default;
};

struct Timeline {
  HostCosts costs;
  std::vector<Item> items;

  bool operator==(const Timeline&) const = default;
};

}  // namespace wavetail::host
