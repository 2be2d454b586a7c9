// SPDX-License-Identifier: Apache-2.0
#include "config/reader.h"

#include <gtest/gtest.h>

#include "config/load.h"
#include "unit/literals.h"

namespace wavetail::config {
namespace {

using namespace unit::literals;

const KeyTable kKeys{{"clock", "frequency", true, "the clock"},
                     {"channels", "count", true, "how many"},
                     {"note", "text", false, "anything"},
                     {"on", "flag", false, "whether"}};

struct Read {
  Diagnostics diagnostics;
  std::optional<Node> node;

  explicit Read(const std::string& text) : node(load_text("t", text, diagnostics)) {}

  MapReader map() { return {*node, "hbm", kKeys, diagnostics}; }

  // Messages with their columns.
  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (const Diagnostic& d : diagnostics.sorted()) {
      all.push_back(std::to_string(d.place.column) + ": " + d.message);
    }
    return all;
  }
};

using Messages = std::vector<std::string>;

TEST(MapReader, ReadsTypedValues) {
  Read r("{clock: 2619 MHz, channels: 40, note: x, on: off}");
  const MapReader map = r.map();
  unit::Hertz clock;
  std::int64_t channels = 0;
  std::string note;
  bool on = true;
  EXPECT_TRUE(map.read("clock", clock));
  EXPECT_TRUE(map.read("channels", channels, {"1", "64"}));
  EXPECT_TRUE(map.read_text("note", note));
  EXPECT_TRUE(map.read_flag("on", on));
  EXPECT_EQ(clock, 2619_MHz);
  EXPECT_EQ(channels, 40);
  EXPECT_EQ(note, "x");
  EXPECT_FALSE(on);
  EXPECT_EQ(r.messages(), Messages{});
}

TEST(MapReader, AMisspeltRequiredKeyIsOneMessage) {
  Read r("{clock: 1 MHz, chanels: 40}");
  (void)r.map();
  EXPECT_EQ(r.messages(), (Messages{"16: unknown key 'hbm.chanels'; did you mean 'channels'?"}));
}

TEST(MapReader, UnknownAndMissingKeysAreTold) {
  Read r("{channels: 40, colour: green}");
  (void)r.map();
  EXPECT_EQ(r.messages(),
            (Messages{"1: 'hbm.clock' is missing: the clock",
                      "16: unknown key 'hbm.colour'; allowed: clock, channels, note, on"}));
}

TEST(MapReader, ValuesAreRefusedWithWhatIsAllowed) {
  Read r("{clock: 2619, channels: 6400, note: [a], on: yes}");
  const MapReader map = r.map();
  unit::Hertz clock;
  std::int64_t channels = 7;
  std::string note;
  bool on = false;
  EXPECT_FALSE(map.read("clock", clock));
  EXPECT_FALSE(map.read("channels", channels, {"16", "256"}));
  EXPECT_FALSE(map.read_text("note", note));
  EXPECT_FALSE(map.read_flag("on", on));
  EXPECT_EQ(channels, 7);
  EXPECT_EQ(r.messages(),
            (Messages{"9: 'hbm.clock': a unit is needed (one of: Hz, kHz, MHz, GHz); found '2619'",
                      "25: 'hbm.channels' is 6400; allowed 16 to 256",
                      "37: 'hbm.note': text is needed; found a list",
                      "46: 'hbm.on' is 'yes'; allowed: true, false, on, off"}));
}

TEST(MapReader, ALongValueIsReadAtItsValue) {
  Read r("{clock: {value: 1 MHz, source: s}, channels: {value: 0}}");
  const MapReader map = r.map();
  unit::Hertz clock;
  std::int64_t channels = 0;
  EXPECT_TRUE(map.read("clock", clock));
  EXPECT_FALSE(map.read("channels", channels, {"1", "64"}));
  EXPECT_EQ(r.messages(), (Messages{"54: 'hbm.channels' is 0; allowed 1 to 64"}));
}

TEST(MapReaderDeathTest, AKeyThatTheTableLacksIsOurMistake) {
  Read r("{clock: 1 MHz, channels: 40}");
  const MapReader map = r.map();
  EXPECT_DEATH((void)map.find("colour"), "a key is read that its table does not declare");
}

}  // namespace
}  // namespace wavetail::config
