// Settings and results that the C library or the kernel keeps for the process: what one thread sets
// or asks for, another finds changed. corners.txt says what mc must make of each case.
#include <dirent.h>
#include <err.h>
#include <error.h>
#include <grp.h>
#include <iconv.h>
#include <libintl.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <syslog.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>

#include "mc/mc.h"

namespace {

// Fails if the change may come before the question.
template <typename Change, typename Ask>
bool IsChanged(Change change, Ask ask) {
  std::thread other(change);
  const bool is_as_before = ask();
  other.join();
  return !is_as_before;
}
template <typename Change, typename Ask>
void ChangeAndAsk(Change change, Ask ask) {
  mc_assert(!IsChanged(change, ask));
}

template <typename Work>
void Together(Work work) {
  std::thread other(work);
  work();
  other.join();
}

std::mutex mutex;

}  // namespace

// ---- Of the kernel

MC_TEST(Dumpable) {
  mc_assert(prctl(PR_GET_DUMPABLE) == 1);  // in each execution
  ChangeAndAsk([] { prctl(PR_SET_DUMPABLE, 0); }, [] { return prctl(PR_GET_DUMPABLE) == 1; });
}
MC_TEST(Priority) {
  const int before = getpriority(PRIO_PROCESS, 0);
  ChangeAndAsk([=] { setpriority(PRIO_PROCESS, static_cast<id_t>(getpid()), before + 1); },
               [=] { return getpriority(PRIO_PROCESS, 0) == before; });
}
MC_TEST(PriorityOfEachThread) {
  const int before = getpriority(PRIO_PROCESS, 0);
  std::thread other(
      [=] { mc_assert(nice(2) == before + 2 && getpriority(PRIO_PROCESS, 0) == before + 2); });
  mc_assert(getpriority(PRIO_PROCESS, 0) == before);
  other.join();
}
MC_TEST(Policy) {
  ChangeAndAsk(
      [] {
        sched_param parameters = {};
        mc_assert(sched_setscheduler(getpid(), SCHED_BATCH, &parameters) == 0);
      },
      [] { return sched_getscheduler(0) == SCHED_OTHER; });
}
MC_TEST(IntervalTimer) {
  ChangeAndAsk(
      [] {
        const itimerval time = {{0, 0}, {100, 0}};
        setitimer(ITIMER_VIRTUAL, &time, nullptr);
      },
      [] {
        itimerval time;
        getitimer(ITIMER_VIRTUAL, &time);
        return time.it_value.tv_sec == 0;
      });
}
MC_TEST(GroupOfProcesses) {
  mc_assert(getpgrp() != getpid());  // in each execution
  ChangeAndAsk([] { setpgid(0, 0); }, [] { return getpgrp() != getpid(); });
}
MC_TEST(SameUser) {
  const auto work = [] { mc_assert(setuid(getuid()) == 0 && setgid(getgid()) == 0); };
  Together(work);
}

// ---- Lists that are read entry by entry

MC_TEST(NextUser) {
  setpwent();
  ChangeAndAsk([] { getpwent(); }, [] { return getpwent()->pw_uid == 0; });
}
MC_TEST(NextGroup) {
  setgrent();
  ChangeAndAsk([] { getgrent(); }, [] { return getgrent()->gr_gid == 0; });
}
MC_TEST(NextFileInAFolder) {
  DIR* const folder = opendir("/dev");
  readdir(folder);
  const std::string second = readdir(folder)->d_name;
  rewinddir(folder);
  readdir(folder);
  const bool changed =
      IsChanged([=] { readdir(folder); }, [&] { return second == readdir(folder)->d_name; });
  closedir(folder);
  mc_assert(!changed);
}
MC_TEST(PlaceInAFolder) {
  DIR* const folder = opendir("/dev");
  readdir(folder);
  const long place = telldir(folder);
  const bool changed =
      IsChanged([=] { rewinddir(folder); }, [=] { return telldir(folder) == place; });
  closedir(folder);
  mc_assert(!changed);
}
MC_TEST(ListsUnderALock) {
  Together([] {
    const std::lock_guard<std::mutex> lock(mutex);
    setpwent();
    mc_assert(getpwent() != nullptr);
    endpwent();
    setgrent();
    mc_assert(getgrent() != nullptr);
    endgrent();
    FILE* const mounts = setmntent("/proc/self/mounts", "r");
    mc_assert(getmntent(mounts) != nullptr && endmntent(mounts) == 1);
  });
}
MC_TEST(UserThatIsNotThere) {
  Together([] {
    passwd user, *found;
    char place[1024];
    mc_assert(getpwnam_r("nobody-of-that-name", &user, place, sizeof place, &found) == 0);
    mc_assert(found == nullptr);
  });
}

// ---- Results that are kept

MC_TEST(KeptDigits) {
  int point, sign;
  const char* const digits = ecvt(1.5, 2, &point, &sign);
  ChangeAndAsk(
      [] {
        int other_point, other_sign;
        ecvt(2.5, 2, &other_point, &other_sign);
      },
      [=] { return digits[0] == '1'; });
}
MC_TEST(KeptText) {
  const char* const text = l64a(1);
  const char before = text[0];
  ChangeAndAsk([] { l64a(2); }, [=] { return text[0] == before; });
}
MC_TEST(KeptAddress) {
  const ether_addr* const address = ether_aton("1:2:3:4:5:6");
  ChangeAndAsk([] { ether_aton("2:2:3:4:5:6"); },
               [=] { return address->ether_addr_octet[0] == 1; });
}
MC_TEST(KeptName) {
  const char* const name = std::tmpnam(nullptr);
  const std::string before = name;
  ChangeAndAsk([] { std::tmpnam(nullptr); }, [=] { return before == name; });
}

// ---- Settings

MC_TEST(LogMask) {
  ChangeAndAsk([] { setlogmask(1); }, [] { return setlogmask(0) == 255; });
}
MC_TEST(TextDomain) {
  const std::string before = textdomain(nullptr);
  ChangeAndAsk([] { textdomain("another"); }, [=] { return before == textdomain(nullptr); });
}
MC_TEST(CountOfErrors) {
  ChangeAndAsk([] { error(0, 0, "%s", "text"); }, [] { return error_message_count == 0; });
}
MC_TEST(StateOfAConversion) {
  const iconv_t conversion = iconv_open("UTF-16", "UTF-8");
  const auto convert = [=] {
    char in[] = "a", out[8];
    char *from = in, *to = out;
    std::size_t from_left = 1, to_left = sizeof out;
    iconv(conversion, &from, &from_left, &to, &to_left);
    return to - out;
  };
  const bool changed = IsChanged(convert, [=] { return convert() == 4; });  // with a mark first
  iconv_close(conversion);
  mc_assert(!changed);
}
MC_TEST(MessagesOfEach) {
  Together([] {
    warnx("%s", "text");
    error(0, 0, "%s", "text");
    openlog("name", 0, LOG_USER);
    closelog();
    mc_assert(std::strcmp(gettext("text"), "text") == 0);
  });
}
