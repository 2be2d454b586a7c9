// SPDX-License-Identifier: Apache-2.0
// One scenario (the base run or one variant) from the file's nodes and the settings that hold for
// it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/setting.h"
#include "gpu/catalog.h"
#include "scenario/kernels.h"
#include "scenario/scenario.h"

namespace wavetail::scenario {

// GPU files are looked for and parsed once per study.
class GpuSource {
 public:
  // `beside`: the scenario's folder. `chosen`: the command line's name or file, in place of the
  // scenario's.
  GpuSource(std::vector<std::string> folders, std::string beside, std::optional<std::string> chosen)
      : catalog_(std::move(folders)), beside_(std::move(beside)), chosen_(std::move(chosen)) {}

  // The nodes with the settings below "gpu." applied; `named` is the scenario's `gpu` node, null if
  // absent.
  [[nodiscard]] std::optional<gpu::Document> document(const config::Node* named,
                                                      std::span<const config::Setting> settings,
                                                      config::Diagnostics& diagnostics);
  // What they say.
  [[nodiscard]] std::optional<gpu::GpuSpec> read(const config::Node* named,
                                                 std::span<const config::Setting> settings,
                                                 config::Diagnostics& diagnostics);
  // Whether the command line named the GPU.
  [[nodiscard]] bool chosen() const;

 private:
  [[nodiscard]] std::optional<gpu::Document> load(const std::string& which, bool trusted,
                                                  const config::Place& place,
                                                  config::Diagnostics& diagnostics) const;

  gpu::Catalog catalog_;
  std::string beside_;
  std::optional<std::string> chosen_;
  std::map<std::string, std::optional<gpu::Document>> known_;
};

// A scenario, and its kernels by the file's names.
struct Reading {
  Scenario scenario;
  KernelSet kernels;
};

// What a variant may take over from the base, and the settings in which it differs.
struct Inherited {
  const Reading* base = nullptr;  // null: nothing
  std::span<const config::Setting> own;
};

// Whether a setting changes the section (a root key of the file).
[[nodiscard]] bool touches(std::span<const config::Setting> settings, std::string_view section);

// Reports every mistake; what comes back is complete only where there was none. A GPU that the
// variant leaves alone, and its kernels, are the base's; equal kernels are kept once.
[[nodiscard]] Reading read_scenario(config::Node root, std::span<const config::Setting> settings,
                                    GpuSource& gpus, config::Diagnostics& diagnostics,
                                    const Inherited& inherited = {});

}  // namespace wavetail::scenario
