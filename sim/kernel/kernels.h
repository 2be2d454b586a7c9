// SPDX-License-Identifier: Apache-2.0
// The kernels of a scenario, by number. They never change once they are read, so that scenarios
// which have the same ones (the variants of a study) share them.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "kernel/kernel.h"

namespace wavetail::kernel {

class Kernels {
 public:
  Kernels() : Kernels(std::vector<Kernel>{}) {}

  Kernels(std::vector<Kernel> all)  // NOLINT(google-explicit-constructor): they are its value
      : all_(std::make_shared<const std::vector<Kernel>>(std::move(all))) {}

  Kernels(std::initializer_list<Kernel> all) : Kernels(std::vector<Kernel>(all)) {}

  [[nodiscard]] const std::vector<Kernel>& all() const { return *all_; }

  operator const std::vector<Kernel>&() const {
    return *all_;
  }  // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::size_t size() const { return all_->size(); }

  [[nodiscard]] bool empty() const { return all_->empty(); }

  [[nodiscard]] auto begin() const { return all_->begin(); }

  [[nodiscard]] auto end() const { return all_->end(); }

  [[nodiscard]] const Kernel& operator[](std::size_t n) const { return (*all_)[n]; }

  [[nodiscard]] const Kernel& at(std::size_t n) const { return all_->at(n); }

  friend bool operator==(const Kernels& a, const Kernels& b) {
    return a.all_ == b.all_ || *a.all_ == *b.all_;
  }

 private:
  std::shared_ptr<const std::vector<Kernel>> all_;
};

}  // namespace wavetail::kernel
