// SPDX-License-Identifier: Apache-2.0
// Turns the YAML parser's events into nodes. It is private to the room: yaml-cpp is seen here and
// in load.cc only.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/load.h"

namespace wavetail::config {

// Thrown through the parser to stop it at once.
struct Stop {
  Place place;
  std::string message;
};

// yaml-cpp counts from 0 and marks "nowhere" with -1; this is the only conversion.
[[nodiscard]] Place to_place(const std::shared_ptr<const Source>& source, const YAML::Mark& mark);

class Builder : public YAML::EventHandler {
 public:
  Builder(std::shared_ptr<const Source> source, const Limits& limits)
      : source_(std::move(source)), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override;

  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;

  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;

  void OnMapEnd() override { close(); }

  [[nodiscard]] bool has_root() const { return has_root_; }

  [[nodiscard]] Node take_root() { return std::move(root_); }

 private:
  struct Frame {
    Node node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;  // Map: a key waits for its value
    std::string key;
    Place key_place;
  };

  void open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor);
  void close();
  void add(Node node, YAML::anchor_t anchor);
  void add_to_map(Frame& frame, Node node);
  void count(std::size_t nodes, std::size_t bytes, const Place& place);
  void count_copy(const Node& node, int depth, const Place& place);
  [[noreturn]] void too_deep(const Place& place) const;

  std::shared_ptr<const Source> source_;
  Limits limits_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, Node> anchored_;
  std::size_t nodes_ = 0, bytes_ = 0;
  bool has_root_ = false;
  Node root_;
};

}  // namespace wavetail::config
