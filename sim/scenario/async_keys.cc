// SPDX-License-Identifier: Apache-2.0
// Keys of asynchronous, tensor and cluster operations.
#include "scenario/keys.h"

namespace wavetail::scenario {

using config::KeyTable;

const KeyTable& mbarrier_keys() {
  static const KeyTable keys{
      {"stages", "count", true, "mbarriers of the ring"},
      {"arrivals", "count", false,
       "that complete a phase; the warps that arrive and the signals, if absent"},
      {"open", "flag", false,
       "whether the first wait on every stage passes; if absent, unless a signal is for it"},
  };
  return keys;
}

const KeyTable& arrive_keys() {
  static const KeyTable keys{
      {"barrier", "text", true, "one of the kernel's mbarriers"},
      {"scope", "one of block, cluster, pair", false,
       "cluster: at every block of the cluster; pair: at the first of two neighbouring ones"},
  };
  return keys;
}

const KeyTable& copy_keys() {
  static const KeyTable keys = [] {
    KeyTable k;
    for (const config::Key& key : access_keys()) {
      if (key.name != "cache") { k.push_back(key); }
    }
    k.push_back({"signal", "text", false,
                 "an mbarrier that gets the warp's arrival when its copies so far have landed"});
    return k;
  }();
  return keys;
}

const KeyTable& box_keys() {
  static const KeyTable keys{
      {"array", "text", true, "one of the kernel's arrays"},
      {"bytes", "size", false, "a contiguous range of this size"},
      {"box", "list of rows and size", false, "[rows, bytes per row], by a tensor map"},
      {"pitch", "size", false, "bytes from row to row; those of a row if absent"},
      {"swizzle", "one of none, 32B, 64B, 128B", false,
       "layout in shared memory; a row of the box cannot be wider than it"},
      {"multicast", "count or axes", false,
       "blocks of the cluster that the box is for: a number, or x, y, z, xy, ..."},
      {"walk", "one of grid, block, same", false,
       "how the box moves over blocks and trips; grid if absent"},
      {"strides", "map: box_strides", false, "the same in bytes, instead of walk"},
      {"offset", "size", false, "bytes added to every address"},
  };
  return keys;
}

namespace {

KeyTable with_boxes(KeyTable keys) {
  for (config::Key& key : keys) { key.required = false; }
  keys.push_back({"boxes", "list of boxes", false, "several boxes, instead of the keys of one"});
  return keys;
}

}  // namespace

const KeyTable& tma_load_keys() {
  static const KeyTable keys = [] {
    KeyTable k = with_boxes(box_keys());
    k.push_back({"signal", "text", true, "the mbarrier whose phase the bytes complete"});
    k.push_back({"scope", "one of block, pair", false,
                 "pair: the mbarrier is that of the first of two neighbouring blocks"});
    return k;
  }();
  return keys;
}

const KeyTable& tma_store_keys() {
  static const KeyTable keys = [] {
    KeyTable k;
    for (const config::Key& key : with_boxes(box_keys())) {
      if (key.name != "multicast") { k.push_back(key); }
    }
    return k;
  }();
  return keys;
}

const KeyTable& box_strides_keys() {
  static const KeyTable keys{
      {"block", "size or list of sizes", false, "bytes per block index: n or [x, y, z]"},
      {"loop", "list of sizes", false, "bytes per trip of the enclosing loops, outermost first"},
  };
  return keys;
}

const KeyTable& wgmma_keys() {
  static const KeyTable keys{
      {"m", "count", false, "64"},
      {"n", "count", true, "columns, a multiple of 8 up to 256"},
      {"k", "count", false, "32 bytes of operand: 16 for bf16"},
      {"dtype", "one of fp16, bf16, tf32, fp8, int8", true, "type of the operands"},
      {"a", "one of shared, registers", false, "where A is; shared if absent"},
      {"sparse", "flag", false, "two of four elements of A; k is twice as much; off if absent"},
      {"count", "count", false, "instructions of the group; 1 if absent"},
  };
  return keys;
}

const KeyTable& mma_keys() {
  static const KeyTable keys{
      {"m", "count", false, "16; 8 for fp64"},
      {"n", "count", false, "8"},
      {"k", "count", false, "32 bytes of operand, or half of that: 16 or 8 for bf16"},
      {"dtype", "one of fp16, bf16, tf32, fp8, int8, fp64", true, "type of the operands"},
      {"sums", "one of fp32, fp16", false, "type of the sums of fp16 and fp8; fp32 if absent"},
      {"sparse", "flag", false, "two of four elements of A; k is twice as much; off if absent"},
      {"count", "count", false, "instructions; 1 if absent"},
      {"distance", "count", false, "instructions between dependent ones; 1 is one chain"},
  };
  return keys;
}

const KeyTable& mfma_keys() {
  static const KeyTable keys{
      {"m", "count", false, "32 or 16; 16 for fp64"},
      {"n", "count", false, "as m"},
      {"k", "count", false,
       "8 bytes of operand per lane: 8 for bf16 and m = 32; gfx950 also takes two and four times "
       "as much"},
      {"dtype", "one of fp16, bf16, tf32, fp8, int8, fp4, fp64", true, "type of the operands"},
      {"count", "count", false, "instructions; 1 if absent"},
      {"distance", "count", false, "instructions between dependent ones; 1 is one chain"},
  };
  return keys;
}

const KeyTable& tcgen05_mma_keys() {
  static const KeyTable keys{
      {"m", "count", false,
       "rows of D: 64 or 128, of a pair of SMs 128 or 256; the most if absent"},
      {"n", "count", true, "columns of D, up to 256, a multiple of 16 (m = 64: 8; pair: 32)"},
      {"k", "count", false, "32 bytes of operand: 16 for bf16, 64 for fp4"},
      {"dtype", "one of fp16, bf16, tf32, fp8, int8, fp4", true, "type of the operands"},
      {"cta_group", "count", false, "1, or 2: a pair of blocks, each with half of A, B and D"},
      {"a", "one of shared, tmem", false, "where A is; shared if absent"},
      {"sparse", "flag", false, "two of four elements of A; k is twice as much; off if absent"},
      {"count", "count", false, "instructions; 1 if absent"},
  };
  return keys;
}

const KeyTable& tcgen05_cp_keys() {
  static const KeyTable keys{
      {"bytes", "size", true, "from shared to tensor memory"},
      {"count", "count", false, "instructions; 1 if absent"},
  };
  return keys;
}

const KeyTable& tmem_access_keys() {
  static const KeyTable keys{
      {"columns", "count", true, "columns of 4 bytes of the warp's 32 lanes: 1, 2, 4, ... 128"},
      {"count", "count", false, "instructions; 1 if absent"},
  };
  return keys;
}

const KeyTable& commit_keys() {
  static const KeyTable keys{
      {"barrier", "text", true, "one of the kernel's mbarriers"},
      {"scope", "one of block, pair", false, "pair: at both of two neighbouring blocks"},
  };
  return keys;
}

const KeyTable& named_barrier_keys() {
  static const KeyTable keys{
      {"id", "count", true, "1 to 15"},
      {"warps", "count", true, "warps that it waits for, this one included"},
      {"form", "one of sync, arrive", false, "arrive does not wait; sync if absent"},
  };
  return keys;
}

const KeyTable& peer_keys() {
  static const KeyTable keys{
      {"width", "size", true, "bytes per lane: 4, 8 or 16 B"},
      {"lanes", "count", false, "active lanes; all if absent"},
      {"count", "count", false, "instructions; 1 if absent"},
      {"to", "count", false, "rank of the peer, counted from the own one; 1, the next, if absent"},
  };
  return keys;
}

}  // namespace wavetail::scenario
