#include "checker/harness_file.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "checker/symbolizer.h"

namespace mc::checker {
namespace {

bool NeedsRuntime(Elf* elf) {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) return false;
    const size_t count = header.sh_size / header.sh_entsize;
    for (size_t i = 0; i < count; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) break;
      if (entry.d_tag != DT_NEEDED) continue;
      const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
      if (name != nullptr && std::string_view(name).starts_with(kRuntimeLibrary)) return true;
    }
  }
  return false;
}

}  // namespace

absl::Status CheckHarnessFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    return absl::NotFoundError(absl::StrCat("cannot open harness '", path, "': ", strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("harness '", path, "' is not a file: give the program built with mc-c++"));
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot read harness '", path, "': ", strerror(errno)));
  }
  const absl::Cleanup close_file = [fd] { close(fd); };
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  const absl::Cleanup end_elf = [elf] { elf_end(elf); };
  GElf_Ehdr header;
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("harness '", path, "' is not a program (no ELF executable): compile the test ",
                     "with mc-c++ and give the result"));
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return absl::InvalidArgumentError(
        absl::StrCat("harness '", path, "' is not a linked program: link it with mc-c++"));
  }
  if (!NeedsRuntime(elf)) {
    return absl::FailedPreconditionError(
        absl::StrCat("harness '", path, "' was not built with mc-c++: compile and link it with ",
                     "mc-c++ (or mc-cc) in place of g++ (or gcc)"));
  }
  if (access(path.c_str(), X_OK) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("harness '", path, "' is not executable: chmod +x it"));
  }
  return absl::OkStatus();
}

}  // namespace mc::checker
