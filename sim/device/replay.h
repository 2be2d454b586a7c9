// SPDX-License-Identifier: Apache-2.0
// Memory of what launches did, so that an identical launch in an identical cache state need not be
// simulated again. Identical means: the same kernel alone on the device, and of each of its arrays
// as much held and as much dirty, to a sixteenth of it or 1/256 of the L2, whichever is less, and
// of the L2 as a whole to 1/256. An array with a copy per launch lies in other pages each time: how
// many of them lie in each L2 partition must agree, too, to a sixteenth, and which ones where there
// are only a few.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "memory/l2.h"
#include "memory/system.h"
#include "sm/launch.h"

namespace wavetail::device {

class Replay {
 public:
  using Key = std::vector<std::int64_t>;

  using Held = std::vector<memory::L2::Census>;

  // What L2 holds of each of the launch's arrays.
  [[nodiscard]] static Held held(const sm::Launch& launch, const memory::L2& l2);

  // What the launch meets.
  [[nodiscard]] static Key key(const sm::Launch& launch, memory::System& memory, const Held& held);

  struct Repeated {
    unit::Duration duration;  // first block placed to last block retired
    unit::Duration drain;     // from there until the last store had reached L2
  };

  // How long an earlier identical launch took, if there was one; books its counters on `launch`
  // and puts the launch's lines into L2 as the earlier one left them.
  [[nodiscard]] std::optional<Repeated> repeat(const Key& key, sm::Launch& launch,
                                               memory::L2& l2) const;

  // Remembers a launch that is complete at `now` and was alone all the time.
  void remember(const Key& key, const sm::Launch& launch, unit::Time now, const memory::L2& l2);

 private:
  // What L2 held when the launch was complete: lines of a page that others may use, or how many
  // lines of one partition nobody will ask for again.
  struct Left {
    std::size_t array = 0;
    memory::L2::PageState state;  // the page's number counts from the array's first
    std::uint64_t side = 0;
    std::int64_t unnamed = 0;  // 0: it is lines of a page
  };

  [[nodiscard]] static std::vector<Left> left_by(const sm::Launch& launch, const memory::L2& l2);

  struct Record {
    Repeated times;
    result::Counters counters;
    std::vector<bool> reached;  // by SM
    std::vector<Left> left;     // of each partition from the least to the most recently used
  };

  std::map<Key, std::shared_ptr<const Record>> records_;  // shared between copies of a Replay
};

}  // namespace wavetail::device
