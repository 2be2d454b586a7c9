// SPDX-License-Identifier: Apache-2.0
#include "study/predictor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "config/setting.h"

namespace wavetail::study {

namespace {

bool is_end(result::Outcome outcome) {
  return outcome == result::Outcome::OverBudget || outcome == result::Outcome::Interrupted;
}

}  // namespace

Predictor::Predictor(std::vector<Subject> subjects, const scenario::LoadOptions& load,
                     const run::Control& control)
    : subjects_(std::move(subjects)), clock_is_set_(set_the_clock(load.sets)), pool_(control) {
  for (const Subject& s : subjects_) {
    if (gpus_.contains(s.gpu)) { continue; }
    config::Diagnostics diagnostics;
    auto document = scenario::load_gpu_document(s.gpu, load, diagnostics);
    base::check(document && diagnostics.ok(), "rows have been chosen for GPUs that can be read");
    gpus_.emplace(s.gpu, std::move(*document));
  }
}

std::optional<gpu::GpuSpec> Predictor::gpu_at(const gpu::Document& document, const Settings& point,
                                              config::Diagnostics& diagnostics) const {
  std::vector<config::Setting> settings;
  for (const std::string& text : point) {
    if (auto setting = config::parse_setting("--fit", text, diagnostics)) {
      settings.push_back(std::move(*setting));
    }
  }
  gpu::Document moved = document;
  gpu::apply_settings(moved, settings, diagnostics);
  return gpu::read_gpu(moved, diagnostics);
}

std::optional<std::string> Predictor::mistake(const Settings& point) const {
  for (const auto& [name, document] : gpus_) {
    config::Diagnostics diagnostics;
    (void)gpu_at(document, point, diagnostics);
    if (!diagnostics.ok()) { return diagnostics.sorted().front().message; }
  }
  return std::nullopt;
}

// Adds to the batch what is not known yet.
void Predictor::plan(const Settings& point, const std::vector<std::size_t>& which, Batch& batch,
                     std::vector<std::pair<Known*, std::size_t>>& wanted) {
  const auto [at, fresh] = known_.try_emplace(point);
  Known& known = at->second;
  if (fresh) { known.refused = mistake(point).value_or(""); }
  if (!known.refused.empty()) { return; }
  config::Diagnostics none;  // there are none where there is no mistake()
  std::map<std::string, GpuShelf> shelves;
  for (const std::size_t i : which) {
    if (known.rows.contains(i)) { continue; }
    const std::string& gpu = subjects_[i].gpu;
    auto shelf = shelves.find(gpu);
    if (shelf == shelves.end()) {
      auto spec = *gpu_at(gpus_.at(gpu), point, none);
      shelf = shelves.try_emplace(gpu, std::move(spec), clock_is_set_, none).first;
    }
    batch.add(subjects_[i].row, shelf->second);
    wanted.emplace_back(&known, i);
  }
}

Answer Predictor::answer(const Settings& point, const std::vector<std::size_t>& which) const {
  const Known& known = known_.at(point);
  Answer answer{{}, known.refused};
  for (const std::size_t i : which) {
    if (!answer.refused.empty()) { return answer; }
    const RowResult& r = known.rows.at(i);
    if (r.predicted) {
      answer.predicted.push_back(*r.predicted);
    } else {
      answer.refused = fmt::format("{}: {}", r.row.id, r.skipped);
    }
  }
  return answer;
}

std::optional<std::vector<Answer>> Predictor::at(const std::vector<Settings>& points,
                                                 const std::vector<std::size_t>& which,
                                                 const Progress& progress) {
  Batch batch;
  std::vector<std::pair<Known*, std::size_t>> wanted;
  for (const Settings& point : points) {
    // the same point twice, as the slopes of a value at its bound ask for it
    if (&point == &*std::find(points.begin(), points.end(), point)) {
      plan(point, which, batch, wanted);
    }
  }
  batch.run(pool_, progress);
  simulations_ += batch.simulations();
  events_ += batch.events();
  const bool ended = is_end(batch.outcome());
  if (batch.outcome() != result::Outcome::Complete) {
    outcome_ = batch.outcome();
    message_ = batch.message();
  }
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    const RowResult& r = batch.rows()[n];
    if (!ended || r.predicted) { wanted[n].first->rows.emplace(wanted[n].second, r); }
  }
  if (ended) { return std::nullopt; }
  std::vector<Answer> answers;
  for (const Settings& point : points) { answers.push_back(answer(point, which)); }
  return answers;
}

RowResult Predictor::result(const Settings& point, std::size_t subject) const {
  const auto known = known_.find(point);
  base::check(known != known_.end() && known->second.rows.contains(subject),
              "only what has been predicted is asked for");
  return known->second.rows.at(subject);
}

}  // namespace wavetail::study
