// The state of streams of the C++ library, as functions that are compiled into the library change
// it: whether a stream is good, how it formats, what it writes to. In each case one thread changes
// what another asks for. corners.txt says what mc must make of each.
#include <ios>
#include <iostream>
#include <istream>
#include <locale>
#include <mutex>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>
#include <utility>

#include "mc/mc.h"

namespace {

// Fails if the change may come before the question.
template <typename Change, typename Ask>
void ChangeAndAsk(Change change, Ask ask) {
  std::thread other(change);
  const bool is_as_before = ask();
  other.join();
  mc_assert(is_as_before);
}

struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};
std::locale WithComma() { return std::locale(std::locale::classic(), new Comma); }

}  // namespace

MC_TEST(StateIsAdded) {
  std::istringstream s("1");
  ChangeAndAsk([&] { s.setstate(std::ios::failbit); }, [&] { return s.good(); });
}
MC_TEST(StateIsReplaced) {
  std::istringstream s("1");
  ChangeAndAsk([&] { s.clear(std::ios::badbit); },
               [&] { return s.rdstate() == std::ios::goodbit; });
}
MC_TEST(StateOfAWideStream) {
  std::wistringstream s(L"1");
  ChangeAndAsk([&] { s.setstate(std::ios::failbit); }, [&] { return !s.fail(); });
}
MC_TEST(WhatIsThrown) {
  std::ostringstream s;
  ChangeAndAsk([&] { s.exceptions(std::ios::badbit); },
               [&] { return s.exceptions() == std::ios::goodbit; });
}
MC_TEST(Fill) {
  std::ostringstream s;
  (void)s.fill();
  ChangeAndAsk([&] { s.fill('x'); }, [&] { return s.fill() == ' '; });
}
MC_TEST(FillOfStandardOutput) {
  ChangeAndAsk([] { std::cout.fill('x'); }, [] { return std::cout.fill() == ' '; });
}
MC_TEST(Format) {
  std::ostringstream s, like;
  like.width(3);
  ChangeAndAsk([&] { s.copyfmt(like); }, [&] { return s.width() == 0; });
}
MC_TEST(Locale) {
  std::ostringstream s;
  ChangeAndAsk([&] { s.imbue(WithComma()); }, [&] { return s.getloc() == std::locale::classic(); });
}
MC_TEST(LocaleOfANumber) {
  std::ostringstream s;
  ChangeAndAsk([&] { s.imbue(WithComma()); },
               [&] {
                 s << 1.5;
                 return s.str() == "1.5";
               });
}
MC_TEST(LocaleOfABuffer) {
  std::stringbuf buffer;
  ChangeAndAsk([&] { buffer.pubimbue(WithComma()); },
               [&] { return buffer.getloc() == std::locale::classic(); });
}
MC_TEST(TiedStream) {
  std::istringstream s("1");
  ChangeAndAsk([&] { s.tie(&std::cout); }, [&] { return s.tie() == nullptr; });
}
MC_TEST(BufferOfAStream) {
  std::stringbuf one("1", std::ios::in), two("2", std::ios::in);
  std::istream s(&one);
  ChangeAndAsk([&] { s.rdbuf(&two); }, [&] { return s.rdbuf() == &one; });
}
MC_TEST(BufferOfStandardOutput) {
  std::ostringstream s;
  std::streambuf* const before = std::cout.rdbuf();
  std::thread other([&] { std::cout.rdbuf(s.rdbuf()); });
  std::cout << 1;
  const bool is_empty = s.str().empty();
  other.join();
  std::cout.rdbuf(before);
  mc_assert(is_empty);
}
MC_TEST(BaseOfStandardOutput) {
  std::thread other([] { std::cout.setf(std::ios::hex, std::ios::basefield); });
  std::cout << 17;
  other.join();
}
MC_TEST(SynchronisationOfStandardOutput) {
  std::thread other([] { std::ios::sync_with_stdio(false); });
  std::cout << 1;
  other.join();
}
MC_TEST(SwappedStreams) {
  std::ostringstream s, full;
  full << "text";
  ChangeAndAsk([&] { s.swap(full); }, [&] { return s.str().empty(); });
}
MC_TEST(MovedStream) {
  std::ostringstream s, full;
  full << "text";
  ChangeAndAsk([&] { s = std::move(full); }, [&] { return s.str().empty(); });
}
MC_TEST(CountOfWhatWasRead) {
  std::istringstream s("1");
  ChangeAndAsk([&] { s.get(); }, [&] { return s.gcount() == 0; });
}
MC_TEST(PositionInABuffer) {
  std::stringbuf buffer("12", std::ios::in);
  ChangeAndAsk([&] { buffer.sbumpc(); }, [&] { return buffer.sgetc() == '1'; });
}
MC_TEST(NumberOfAStream) {
  std::ostringstream s;
  const int index = std::ios::xalloc();
  ChangeAndAsk([&] { s.iword(index) = 3; }, [&] { return s.iword(index) == 0; });
}
MC_TEST(NextNumber) {
  const int last = std::ios::xalloc();
  ChangeAndAsk([] { std::ios::xalloc(); }, [&] { return std::ios::xalloc() == last + 1; });
}

MC_TEST(AllUnderALock) {
  static std::mutex mutex;
  std::stringstream s;
  const auto work = [&] {
    const std::lock_guard<std::mutex> lock(mutex);
    s.clear();
    s.fill('.');
    s.imbue(std::locale::classic());
    s.copyfmt(std::cout);
    s.exceptions(std::ios::badbit);
    s << 17 << std::endl;
    s.get();
    mc_assert(s.gcount() == 1 && s.good());
    s.setstate(std::ios::eofbit);
  };
  std::thread other(work);
  work();
  other.join();
  mc_assert(s.str() == "17\n17\n");
}
MC_TEST(AllOfEachItsOwn) {
  const auto work = [] {
    std::ostringstream s;
    s.fill('.');
    s.setf(std::ios::hex, std::ios::basefield);
    s.width(4);
    s << 17;
    mc_assert(s.str() == "..11" && std::cout.good());
    std::cout << s.str() << std::endl;
  };
  std::thread other(work);
  work();
  other.join();
}
