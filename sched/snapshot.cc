#include "sched/snapshot.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

namespace mc::sched {
namespace {

unsigned char* MapMemory(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

}  // namespace

void Snapshot::AddRegion(uintptr_t begin, uintptr_t end, bool is_program) {
  begin &= ~(kPage - 1);
  end = (end + kPage - 1) & ~(kPage - 1);
  if (begin >= end) return;
  regions_.push_back(
      {begin, end, nullptr, is_program, std::vector<bool>((end - begin) / kPage), nullptr});
}

void Snapshot::Take() {
  std::sort(regions_.begin(), regions_.end(),
            [](const Region& a, const Region& b) { return a.begin < b.begin; });
  TakeNew();
}

void Snapshot::TakeNew() {
  // The fault handler must not allocate: room for every page of the ordinary program.
  size_t pages = 0;
  for (const Region& r : regions_) pages += (r.end - r.begin) / kPage;
  dirty_.reserve(std::min<size_t>(pages, size_t{1} << 20));
  // First all copies: making them may write to a region.
  std::vector<Region*> fresh;
  fresh.reserve(regions_.size());
  for (Region& r : regions_) {
    if (r.saved != nullptr) continue;
    fresh.push_back(&r);
    r.saved = MapMemory(r.end - r.begin);
    // Pages that were never touched read as zero and stay unbacked on both sides.
    memcpy(r.saved, reinterpret_cast<const void*>(r.begin), r.end - r.begin);
  }
  for (const Region* r : fresh) {
    mprotect(reinterpret_cast<void*>(r->begin), r->end - r->begin, PROT_READ);
  }
}

void Snapshot::Restore() {
  for (const DirtyPage& page : dirty_) {
    memcpy(reinterpret_cast<void*>(page.address), page.saved, kPage);
  }
}

void Snapshot::Save(MemoryCopy* out) const {
  for (const DirtyPage& page : dirty_) {
    out->Add(reinterpret_cast<const void*>(page.address), kPage);
  }
}

void Snapshot::RestoreSince(size_t page_count) {
  for (size_t i = page_count; i < dirty_.size(); ++i) {
    memcpy(reinterpret_cast<void*>(dirty_[i].address), dirty_[i].saved, kPage);
  }
}

Snapshot::Region* Snapshot::Find(uintptr_t address) {
  for (Region& r : regions_) {
    if (address >= r.begin && address < r.end) return &r;
  }
  return nullptr;
}

void Snapshot::MarkDirty(Region& region, uintptr_t page) {
  const size_t number = (page - region.begin) / kPage;
  if (region.dirty[number]) return;
  region.dirty[number] = true;
  mprotect(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_WRITE);
  dirty_.push_back({page, region.saved + number * kPage, region.is_program});
}

bool Snapshot::HandleWriteFault(uintptr_t address) {
  Region* region = Find(address);
  if (region == nullptr) return false;
  const uintptr_t page = address & ~(kPage - 1);
  if (region->dirty[(page - region->begin) / kPage]) return false;
  MarkDirty(*region, page);
  return true;
}

void Snapshot::PrepareForKernelWrite(uintptr_t begin, size_t size) {
  const uintptr_t end = begin + std::min<size_t>(size, UINTPTR_MAX - begin);
  for (Region& region : regions_) {
    const uintptr_t stop = std::min(end, region.end);
    uintptr_t page = std::max(begin & ~(kPage - 1), region.begin);
    for (; page < stop; page += kPage) MarkDirty(region, page);
  }
}

void Snapshot::BeginLibraryChange() {
  for (Region& r : regions_) {
    if (r.is_program) continue;
    if (r.before_change == nullptr) r.before_change = MapMemory(r.end - r.begin);
    memcpy(r.before_change, reinterpret_cast<const void*>(r.begin), r.end - r.begin);
    // The library blocks all signals meanwhile: a write fault would kill the process.
    mprotect(reinterpret_cast<void*>(r.begin), r.end - r.begin, PROT_READ | PROT_WRITE);
  }
}

void Snapshot::EndLibraryChange() {
  for (Region& r : regions_) {
    if (r.is_program) continue;
    const auto* now = reinterpret_cast<const uint64_t*>(r.begin);
    const auto* before = reinterpret_cast<const uint64_t*>(r.before_change);
    auto* saved = reinterpret_cast<uint64_t*>(r.saved);
    for (size_t i = 0; i < (r.end - r.begin) / sizeof(uint64_t); ++i) {
      if (now[i] != before[i]) saved[i] = now[i];
    }
    ProtectCleanPages(r);
  }
}

// Runs of pages at a time: each call is a change of the address space.
void Snapshot::ProtectCleanPages(const Region& region) {
  const size_t count = (region.end - region.begin) / kPage;
  for (size_t first = 0; first < count; ++first) {
    if (region.dirty[first]) continue;
    size_t last = first;
    while (last < count && !region.dirty[last]) ++last;
    mprotect(reinterpret_cast<void*>(region.begin + first * kPage), (last - first) * kPage,
             PROT_READ);
    first = last;
  }
}

uint64_t Snapshot::HashProgramState() const {
  // Order-free: pages become dirty in an order that depends on the executions before.
  uint64_t sum = 0;
  for (const DirtyPage& page : dirty_) {
    if (!page.is_program) continue;
    const auto* now = reinterpret_cast<const uint64_t*>(page.address);
    const auto* saved = reinterpret_cast<const uint64_t*>(page.saved);
    for (size_t i = 0; i < kPage / sizeof(uint64_t); ++i) {
      if (now[i] == saved[i]) continue;
      uint64_t h = (page.address + i * 8) * 0x9e3779b97f4a7c15u + now[i];
      h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
      sum += h ^ (h >> 29);
    }
  }
  return sum;
}

namespace {

struct Collector {
  Snapshot* snapshot;
  uintptr_t engine_address;  // some address inside the engine's library
  uintptr_t loader_base;
  bool first = true;
};

int AddModule(dl_phdr_info* info, size_t, void* argument) {
  auto* collector = static_cast<Collector*>(argument);
  const bool is_program = collector->first;
  collector->first = false;
  uintptr_t relro_begin = 0, relro_end = 0;
  bool is_engine = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + h.p_vaddr;
    if (h.p_type == PT_GNU_RELRO) {
      relro_begin = begin;
      relro_end = begin + h.p_memsz;
    }
    if (h.p_type == PT_LOAD && collector->engine_address >= begin &&
        collector->engine_address < begin + h.p_memsz) {
      is_engine = true;
    }
  }
  if (is_engine || info->dlpi_addr == collector->loader_base) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    if (h.p_type != PT_LOAD || (h.p_flags & PF_W) == 0) continue;
    uintptr_t begin = info->dlpi_addr + h.p_vaddr;
    const uintptr_t end = begin + h.p_memsz;
    if (relro_begin >= begin && relro_begin < end) begin = relro_end;
    begin &= ~uintptr_t{4095};  // the loader protects whole pages only
    if (begin >= end || collector->snapshot->Contains(begin)) continue;
    collector->snapshot->AddRegion(begin, end, is_program);
  }
  return 0;
}

}  // namespace

void AddWritableData(Snapshot* snapshot) {
  Collector collector;
  collector.snapshot = snapshot;
  collector.engine_address = reinterpret_cast<uintptr_t>(&AddWritableData);
  collector.loader_base = _r_debug.r_ldbase;
  dl_iterate_phdr(AddModule, &collector);
}

}  // namespace mc::sched
