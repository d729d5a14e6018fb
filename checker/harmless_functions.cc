#include "checker/harmless_functions.h"

#include <fnmatch.h>

#include <iterator>
#include <unordered_set>
#include <vector>

#include "absl/strings/str_split.h"

namespace mc::checker {
namespace {

// Names may be patterns: `*`, `?`, `[...]`. One that begins with `!` takes what it matches out of
// its group, wherever it stands in it.
struct Group {
  const char* library;  // how the file's name begins
  const char* reason;
  const char* functions;
};

constexpr Group kGroups[] = {
    {"libm.so", "a value for values, which go through no memory",
     "* !fegetenv !fesetenv !feholdexcept !feupdateenv !fe[gs]etexceptflag !fe[gs]etmode "
     "!*payload* !totalorder* !canonicalize* !nan* !frexp* !modf* !remquo* !sincos* !lgamma*_r* "
     "!lgamma* !gamma* !fromfp*"},
    {"libc.so", "a value for values, which go through no memory",
     "abs labs llabs imaxabs div ldiv lldiv imaxdiv ffs ffsl ffsll difftime htonl htons ntohl "
     "ntohs copysign* frexp? ldexp* scalbn* finite* isinf* isnan* is[a-z]* isw[a-z]* "
     "to[lu]* tow[lu]* toascii wcwidth btowc wctob wctype* wctrans* towctrans* "
     "gnu_dev_* inet_makeaddr inet_lnaof inet_netof __isinf* __isnan* __finite* __signbit* "
     "__fpclassify* __cmsg_nxthdr !isastream !isatty !isctype"},
    {"libc.so", "what the system says of the process or the machine, as a value",
     "getpid getppid gettid getuid geteuid getgid getegid "
     "getpagesize gethostid getauxval __getauxval sysconf __sysconf fpathconf isatty "
     "get_nprocs* get_*_pages sched_get_priority_* __libc_current_sigrtm?? "
     "__libc_allocate_rtsig gnu_get_libc_* ulimit"},
    {"libc.so", "changes something of the process or of a descriptor that is no memory",
     "setfs*id close_range closefrom posix_fadvise* "
     "posix_fallocate* fallocate* sync syncfs lockf* sync_file_range readahead mlock* munlock* "
     "msync posix_madvise timerfd_create inotify_init* inotify_rm_watch dirfd "
     "killpg malloc_trim mallopt sbrk brk daemon tcdrain tcflow tcflush tcsendbreak epoll_create*"},
    {"libc.so", "ends the check: another program would take the place of this one",
     "execl execlp execle execvpe fexecve"},
    {"libc.so", "what belongs to the calling thread, or never changes",
     "__errno_location __h_errno_location __ctype_*_loc __ctype_get_mb_cur_max pthread_self "
     "thrd_current pthread_equal thrd_equal pthread_testcancel pthread_[gs]etconcurrency strerror "
     "strerror_l strsignal sigabbrev_np sigdescr_np strerrorname_np strerrordesc_np gai_strerror "
     "hstrerror nl_langinfo* "
     "uselocale __uselocale localtime_rz __res_state pthread_getattr_default_np"},
    {"libc.so", "a jump buffer is of the thread that jumps",
     "setjmp _setjmp __sigsetjmp sigsetjmp longjmp _longjmp siglongjmp __longjmp_chk"},
    {"libc.so", "works through functions of the program, or through those the runtime defines",
     "bsearch dl_iterate_phdr freeaddrinfo freeifaddrs if_freenameindex sem_close sem_unlink "
     "obstack_free __libc_start_main __stack_chk_fail __fortify_fail __chk_fail __isoc*_unused "
     "pthread_atfork __register_frame* __deregister_frame*"},
    {"libc.so", "reads the name that it is given, and nothing else of the program",
     "dlsym dlvsym dlerror"},
    {"ld-linux", "finds the thread's own variables, or the loader's own tables",
     "__tls_get_addr _dl_* __rtld_*"},
    {"libgcc_s.so", "arithmetic, and unwinding of the thread's own stack", "*"},
    {"libatomic.so", "nothing: what it does not share with the runtime",
     "__atomic_is_lock_free __atomic_feraiseexcept"},

    // ---- The C++ library. What of it is seen, and how, is told in tools/README.md.
    {"libstdc++.so", "makes, throws and describes exceptions, which are counted in atomics",
     "__cxa_* __gxx_personality_v0 __dynamic_cast _ZN10__cxxabiv1* _ZNK10__cxxabiv1* "
     "_ZSt[0-9]*__throw_* _ZSt9terminatev _ZSt10unexpectedv _ZSt*uncaught_exception* "
     "_ZSt17current_exceptionv _ZSt17rethrow_exception* _ZSt1?[gs]et_terminate* "
     "_ZNSt15__exception_ptr* _ZNKSt15__exception_ptr* _ZSt*exception_ptr* "
     "_ZN*St*exception* _ZN*St[0-9]*_error* _ZN*St[0-9]*bad_* _ZNSt12out_of_range* "
     "_ZN*St17__?_bad* "
     "_ZN*St16nested_exception* _ZN*St9type_info* _ZNKSt9type_info* "
     "_ZSt*_category* _ZN*St3_V2* _ZN*St10error_code* _ZN*St15error_condition* "
     "_ZNSt*failure* _ZNKSt*failure* "
     "!_ZNSt6chrono*"},
    {"libstdc++.so", "works through functions the runtime defines: locks, futexes, clocks, malloc",
     "_ZNSt6chrono*3nowEv _ZNSt6thread* _ZNSt18condition_variable* _ZNKSt18condition_variable* "
     "_ZNSt28__atomic_futex_unsigned_base* _ZNSt13__future_base* _ZNSt10_Sp_locker* "
     "_ZSt25notify_all_at_thread_exit* __once_proxy _ZSt11__once_call _ZSt15__once_callable "
     "_ZNSt22__condition_variable* _ZNSt3_V222condition_variable* _ZNSt10__make_ready* "
     "_ZSt15get_new_handlerv _ZSt15set_new_handler* _ZNSt3pmr* _ZNKSt3pmr* "
     "_ZNSt13random_device* _ZNKSt13random_device* _ZNSa* _ZNSt*18__pool_alloc_base* "
     "_ZNSt12__shared_ptr* _ZNSt19_Sp_make_shared_tag* _ZNSt15_Sp_counted* _ZNSt7__cxx1115_Sp*"},
    {"libstdc++.so",
     "changes a stream or what belongs to it, which the functions that every use of one goes "
     "through record",
     "_ZTv0_* _ZNSo* _ZNKSo* _ZNSi* _ZNKSi* _ZNSd* _ZNKSd* _ZNSt*basic_[io]stream* "
     "_ZNKSt*basic_[io]stream* "
     "_ZNSt*basic_iostream* _ZStls* _ZStrs* _ZSt4end[ls]* _ZSt5flush* _ZSt2ws* _ZSt7getline* "
     "_ZSt16__ostream_* _ZSt*basic_[io]stream* _ZNSt8ios_base* _ZNKSt8ios_base* _ZNSt*basic_ios* "
     "_ZNKSt*basic_ios* _ZNSt*basic_streambuf* _ZNKSt*basic_streambuf* _ZNSt*stringbuf* "
     "_ZNKSt*stringbuf* _ZNSt*stringstream* _ZNKSt*stringstream* _ZNSt*basic_filebuf* "
     "_ZNKSt*basic_filebuf* _ZNSt*basic_[io]fstream* _ZNKSt*basic_[io]fstream* "
     "_ZNSt*basic_fstream* _ZNKSt*basic_fstream* _ZNSt12__basic_file* _ZNKSt12__basic_file* "
     "_ZNSt*stdio_*buf* _ZSt21__copy_streambufs* "
     "!_ZStrs*St7complex*"},
    {"libstdc++.so", "a locale does not change, and the classic one is there from the beginning",
     "_ZNSt6locale* _ZNKSt6locale* _ZSt9use_facet* _ZSt9has_facet* _ZNSt*num_* _ZNKSt*num_* "
     "_ZNSt*ctype* _ZNKSt*ctype* _ZNSt*numpunct* _ZNKSt*numpunct* _ZNSt*codecvt* _ZNKSt*codecvt* "
     "_ZNSt*money_put* _ZNKSt*money_put* _ZNSt*time_put* _ZNKSt*time_put* _ZNSt*7collate* "
     "_ZNKSt*7collate* _ZNSt*moneypunct* _ZNSt*messages* "
     "!_ZNSt6localeC?EPKc* !_ZNSt6localeC?ERKNSt7__cxx1112basic_string* !_ZNSt6localeC?ERKSs* "
     "!_ZNSt6localeC?ERKS_PKc* !_ZNSt6locale6global*"},
};

// The table, as it is asked.
class HarmlessTable {
 public:
  HarmlessTable() {
    for (const Group& group : kGroups) {
      Patterns& patterns = groups_.emplace_back();
      for (const absl::string_view word :
           absl::StrSplit(group.functions, ' ', absl::SkipWhitespace())) {
        if (word[0] == '!') {
          patterns.not_these.emplace_back(word.substr(1));
        } else if (word.find_first_of("*?[") == absl::string_view::npos) {
          patterns.names.emplace(word);
        } else {
          patterns.these.emplace_back(word);
        }
      }
    }
  }

  bool Has(const std::string& function, std::string_view library) const {
    for (size_t i = 0; i < std::size(kGroups); ++i) {
      if (library.starts_with(kGroups[i].library) && groups_[i].Match(function)) return true;
    }
    return false;
  }

 private:
  struct Patterns {
    std::unordered_set<std::string> names;
    std::vector<std::string> these, not_these;

    static bool MatchAny(const std::vector<std::string>& patterns, const std::string& function) {
      for (const std::string& pattern : patterns) {
        if (fnmatch(pattern.c_str(), function.c_str(), 0) == 0) return true;
      }
      return false;
    }
    bool Match(const std::string& function) const {
      return (names.contains(function) || MatchAny(these, function)) &&
             !MatchAny(not_these, function);
    }
  };

  std::vector<Patterns> groups_;
};

}  // namespace

bool IsHarmless(const std::string& function, std::string_view library) {
  static const HarmlessTable* const table = new HarmlessTable;
  return table->Has(function, library);
}

}  // namespace mc::checker
