// SPDX-License-Identifier: Apache-2.0
// Access to the shared memory of another block of the cluster (ld.shared::cluster,
// st.shared::cluster). A load crosses the SM-to-SM network, takes the peer's port out, and comes
// back; a store takes the own port out and nobody waits for it. Loads are on the warp's scoreboard
// with the global ones.
#include <algorithm>

#include "sm/sm.h"

namespace wavetail::sm {

using event::Target;

unit::Duration Sm::peer_latency(const Cluster& cluster) const {
  const gpu::ClusterSpec& spec = surface_.gpu.cluster;
  return surface_.clocks.sm.span(cluster.members.size() == 2 ? spec.pair_latency : spec.latency);
}

void Sm::peer_access(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  proceed(slot, Reason::Wait, operands_at(w, instr), turn);
  const CompiledPeer& peer = w.code->peers[static_cast<std::size_t>(instr.object)];
  const Block& b = blocks_[static_cast<std::size_t>(w.block)];
  const std::int64_t size = b.cluster == kNoCluster
                                ? 1
                                : static_cast<std::int64_t>(
                                      surface_.clusters[b.cluster].members.size());
  const bool own = (peer.to % size + size) % size == 0;
  const std::int32_t run = w.pc;
  while (w.pc == run && turn.budget > 0 && !turn.over) {
    if (instr.kind == InstrKind::PeerLoad) {
      if (free_entries(w, 1) == 0) {
        wait_loads(slot, 1ULL << (w.loads_issued & (w.code->scoreboard - 1)), turn);
        return;
      }
    }
    const std::int64_t from = lsu_.reserve(turn.cycle, peer.cycles).end;
    const Time departs = surface_.clocks.sm.edge(from);
    w.launch->counters.lsu_busy += peer.cycles;
    issue_now(slot, instr, turn);
    if (!own) { w.launch->counters.dsmem_bytes += peer.bytes; }
    if (instr.kind == InstrKind::PeerStore) {
      if (!own) { surface_.memory.send_to_peer(number_, departs, peer.sectors); }
    } else if (own) {
      const Time ready = departs + surface_.clocks.sm.span(surface_.gpu.shared_memory.latency -
                                                           unit::Cycles{1});
      const std::uint32_t entry = w.loads_issued++ & (w.code->scoreboard - 1);
      w.unseen |= 1ULL << entry;
      note_ready(slot, entry, ready);
    } else {
      one_peer_load(slot, peer, departs);
    }
    advance(w, instr, 1);
  }
  if (turn.over) { return; }
  const std::int64_t queue = surface_.gpu.l1.queue.count();
  std::int64_t until = lsu_.free_at() - queue;
  if (instr.kind == InstrKind::PeerStore) {
    const Time port = surface_.memory.egress_free_at(number_);
    until = std::max(until, surface_.clocks.sm.at_or_after(port) - queue);
  }
  proceed(slot, Reason::LgThrottle, until, turn);
}

void Sm::one_peer_load(std::uint32_t slot, const CompiledPeer& peer, Time departs) {
  Warp& w = warps_[slot];
  const Block& b = blocks_[static_cast<std::size_t>(w.block)];
  const Cluster& c = surface_.clusters[b.cluster];
  const auto size = static_cast<std::int64_t>(c.members.size());
  const ClusterMember&
      to = c.members[static_cast<std::size_t>(((b.rank + peer.to) % size + size) % size)];
  const auto sequence = static_cast<std::uint8_t>(w.loads_issued++ & (w.code->scoreboard - 1));
  w.pending |= 1ULL << sequence;
  w.unseen |= 1ULL << sequence;
  const std::uint32_t id = surface_.clusters.keep(
      {number_, static_cast<std::uint16_t>(slot), sequence, peer.sectors, peer_latency(c)});
  surface_.wheel.schedule({departs + peer_latency(c) / 2, Target::Sm,
                           static_cast<std::uint8_t>(SmEvent::PeerArrives), to.sm, id});
}

// At the peer: the data take its port. What is left of the latency is the way back.
void Sm::peer_arrives(std::uint32_t id) {
  const PeerRequest& r = surface_.clusters.request(id);
  const Time now = surface_.wheel.now();
  const Time out = surface_.memory.send_to_peer(number_, now, r.sectors);
  const unit::Duration rest = r.latency - r.latency / 2 - surface_.clocks.sm.span(unit::Cycles{1}) -
                              surface_.memory.timing().egress[1];
  surface_.wheel.schedule({out + std::max(rest, unit::Duration{0}), Target::Sm,
                           static_cast<std::uint8_t>(SmEvent::PeerReturned), r.from, id});
}

void Sm::peer_returned(std::uint32_t id) {
  const PeerRequest r = surface_.clusters.request(id);
  surface_.clusters.release(id);
  load_known(r.warp, r.sequence, surface_.wheel.now());
}

}  // namespace wavetail::sm
