// SPDX-License-Identifier: Apache-2.0
#include "bound/in_place.h"

namespace wavetail::bound {

namespace {

using kernel::Op;
using kernel::OpKind;

bool same_addresses(const Op& load, const Op& store) {
  kernel::MemoryAccess a = load.access;
  a.bypass_l1 = store.access.bypass_l1;
  return a == store.access && load.count == store.count;
}

class Finder {
 public:
  explicit Finder(int array) : array_(array) {}

  void look(const kernel::Program& ops) {
    const Op* loaded = nullptr;  // in this body
    bool waited = false;
    for (const Op& op : ops) {
      for (const kernel::Box& box : op.boxes) { accesses_ += box.array == array_ ? 2 : 0; }
      const bool access = op.kind == OpKind::Load || op.kind == OpKind::Store ||
                          op.kind == OpKind::CpAsync;
      if (access && op.access.array == array_) {
        ++accesses_;
        pair_ = pair_ || (op.kind == OpKind::Store && loaded != nullptr && waited &&
                          same_addresses(*loaded, op));
        loaded = op.kind == OpKind::Load ? &op : nullptr;
        waited = false;
      }
      waited = waited || (op.kind == OpKind::WaitLoads && op.count == 0);
      for (const kernel::Program& body : op.bodies) { look(body); }
    }
  }

  [[nodiscard]] bool pair_alone() const { return pair_ && accesses_ == 2; }

 private:
  int array_;
  int accesses_ = 0;
  bool pair_ = false;
};

}  // namespace

bool updated_in_place(const kernel::Kernel& kernel, int array) {
  Finder finder(array);
  for (const kernel::Role& role : kernel.roles) { finder.look(role.program); }
  return finder.pair_alone();
}

}  // namespace wavetail::bound
