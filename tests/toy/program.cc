#include "tests/toy/program.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mc::toy {
namespace {

// A recursive-descent parser over the text; `position_` is where it stands.
class Parser {
 public:
  Parser(const std::string& text, Program* program) : text_(text), program_(*program) {}

  bool Run(std::string* error) {
    program_.text = text_;
    do {
      program_.threads.emplace_back();
      Thread(program_.threads.back());
    } while (ok_ && (Take("‖") || Take("||")));
    while (ok_ && Take("[")) Option();
    Skip();
    if (ok_ && position_ != text_.size()) Fail("unexpected text");
    FillTables();
    if (!ok_) *error = error_ + " at \"" + text_.substr(position_, 20) + "\" in: " + text_;
    return ok_;
  }

 private:
  void Fail(const char* what) {
    if (ok_) error_ = what;
    ok_ = false;
  }
  void Skip() {
    while (position_ < text_.size() && isspace(static_cast<unsigned char>(text_[position_]))) {
      ++position_;
    }
  }
  bool Peek(const char* token) {
    Skip();
    return text_.compare(position_, strlen(token), token) == 0;
  }
  bool Take(const char* token) {
    if (!Peek(token)) return false;
    position_ += strlen(token);
    return true;
  }
  void Expect(const char* token) {
    if (!Take(token)) Fail(token);
  }
  static bool IsWordCharacter(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  // Takes `word` if it is a whole word here.
  bool TakeWord(const char* word) {
    Skip();
    const size_t end = position_ + strlen(word);
    if (text_.compare(position_, strlen(word), word) != 0) return false;
    if (end < text_.size() && IsWordCharacter(text_[end])) return false;
    position_ = end;
    return true;
  }
  std::string Name() {
    Skip();
    size_t start = position_;
    while (position_ < text_.size() && IsWordCharacter(text_[position_])) ++position_;
    if (start == position_) Fail("a name is expected");
    return text_.substr(start, position_ - start);
  }
  static int Index(std::map<std::string, int>& table, const std::string& name) {
    return table.emplace(name, static_cast<int>(table.size())).first->second;
  }
  int64_t Number() {
    Skip();
    size_t start = position_;
    if (position_ < text_.size() && text_[position_] == '-') ++position_;
    while (position_ < text_.size() && isdigit(static_cast<unsigned char>(text_[position_]))) {
      ++position_;
    }
    if (start == position_) {
      Fail("a number is expected");
      return 0;
    }
    return strtoll(text_.substr(start, position_ - start).c_str(), nullptr, 10);
  }
  static bool IsRegister(const std::string& name) {
    if (name.size() < 2 || name[0] != 'r') return false;
    for (size_t i = 1; i < name.size(); ++i) {
      if (!isdigit(static_cast<unsigned char>(name[i]))) return false;
    }
    return atoi(name.c_str() + 1) < 10;
  }
  bool AtNumber() {
    Skip();
    return position_ < text_.size() &&
           (isdigit(static_cast<unsigned char>(text_[position_])) || text_[position_] == '-');
  }

  Expression Expr() {
    Expression e;
    int used = 0;
    do {
      if (AtNumber()) {
        e.constant += Number();
        continue;
      }
      const std::string name = Name();
      if (!IsRegister(name) || used == 3) {
        Fail("an expression of registers and numbers is expected");
        return e;
      }
      e.registers[used++] = static_cast<int8_t>(name[1] - '0');
    } while (Take("+"));
    return e;
  }
  Condition Cond() {
    Condition c;
    c.left = Expr();
    if (Take("!=")) {
      c.negated = true;
    } else {
      Expect("==");
    }
    c.right = Expr();
    return c;
  }

  void Thread(ThreadCode& thread) {
    if (Peek("(T")) {
      Take("(T");
      Number();
      Expect(")");
      thread.created = true;
    }
    if (Take("–") || Peek("‖") || Peek("||") || Peek("[")) return;
    Skip();
    if (position_ == text_.size()) return;
    Statements(thread.code);
  }

  void Statements(std::vector<Instruction>& code) {
    while (ok_) {
      Statement(code);
      if (Take(";")) {
        code.push_back(Instruction{});
      } else if (!Take(",")) {
        return;
      }
    }
  }

  void If(std::vector<Instruction>& code) {
    Instruction branch;
    branch.op = Op::kBranchUnless;
    branch.condition = Cond();
    const size_t at = code.size();
    code.push_back(branch);
    Expect("{");
    if (Take(";")) code.push_back(Instruction{});
    Statements(code);
    Expect("}");
    code[at].target = code.size();
  }

  bool Simple(const char* word, Op op, std::map<std::string, int>& table,
              std::vector<Instruction>& code) {
    if (!TakeWord(word)) return false;
    Instruction i;
    i.op = op;
    i.object = Index(table, Name());
    code.push_back(i);
    return true;
  }
  bool Wait(const char* word, Op op, int destination, std::vector<Instruction>& code) {
    if (!TakeWord(word)) return false;
    Instruction i;
    i.op = op;
    i.destination = destination;
    i.object = Index(program_.condvars, Name());
    Expect(",");
    i.object2 = Index(program_.mutexes, Name());
    code.push_back(i);
    return true;
  }

  void Statement(std::vector<Instruction>& code) {
    if (TakeWord("if")) return If(code);
    Program& p = program_;
    if (Simple("lock", Op::kLock, p.mutexes, code) ||
        Simple("unlock", Op::kUnlock, p.mutexes, code) || Wait("wait", Op::kWait, -1, code) ||
        Simple("signal", Op::kSignal, p.condvars, code) ||
        Simple("broadcast", Op::kBroadcast, p.condvars, code) ||
        Simple("P", Op::kSemWait, p.semaphores, code) ||
        Simple("V", Op::kSemPost, p.semaphores, code) ||
        Simple("barrier", Op::kBarrier, p.barriers, code) ||
        Simple("rdlock", Op::kReadLock, p.rwlocks, code) ||
        Simple("wrlock", Op::kWriteLock, p.rwlocks, code) ||
        Simple("rdunlock", Op::kReadUnlock, p.rwlocks, code) ||
        Simple("wrunlock", Op::kWriteUnlock, p.rwlocks, code)) {
      return;
    }
    Instruction i;
    if (TakeWord("create") || Peek("join ")) {
      i.op = TakeWord("join") ? Op::kJoin : Op::kCreate;
      Expect("T");
      i.object = static_cast<int>(Number());
    } else if (TakeWord("exit")) {
      i.op = Op::kExit;
      p.uses_exit = true;
    } else if (TakeWord("assume")) {
      i.op = Op::kAssume;
      i.condition = Cond();
    } else if (TakeWord("assert")) {
      i.op = Op::kAssert;
      i.condition = Cond();
    } else if (TakeWord("spin")) {
      Expect("until");
      return Spin(code);
    } else if (Take("*")) {
      i.op = Op::kStoreIndirect;
      i.address_register = Name()[1] - '0';
      Expect("=");
      i.first = Expr();
    } else if (Peek("add(") || Peek("choose(") || Peek("cas(") || Peek("fadd(") || Peek("xchg(")) {
      return Call(-1, code);
    } else {
      return Assignment(code);
    }
    code.push_back(i);
  }

  void Spin(std::vector<Instruction>& code) {
    Instruction i;
    if (Take("cas(")) {
      i.op = Op::kSpinCas;
      CasArguments(i);
    } else if (TakeWord("trylock")) {
      i.op = Op::kSpinTryLock;
      i.object = Index(program_.mutexes, Name());
    } else if (TakeWord("tryP")) {
      i.op = Op::kSpinTrySem;
      i.object = Index(program_.semaphores, Name());
    } else {
      i.op = Op::kSpinLoad;
      do {
        MemoryTest test;
        test.variable = Index(program_.variables, Name());
        if (Take("==")) {
          test.value = Number();
        } else if (Take("!=")) {
          test.negated = true;
          test.value = Number();
        } else {
          test.negated = true;  // "x" means x != 0
        }
        i.tests.push_back(test);
      } while (TakeWord("or"));
    }
    code.push_back(i);
  }

  void CasArguments(Instruction& i) {
    i.object = Index(program_.variables, Name());
    Expect(",");
    i.first = Expr();
    Expect(",");
    i.second = Expr();
    Expect(")");
  }

  void Call(int destination, std::vector<Instruction>& code) {
    Instruction i;
    i.destination = destination;
    if (Take("cas(")) {
      i.op = Op::kCas;
      CasArguments(i);
    } else if (Take("choose(")) {
      i.op = Op::kChoose;
      i.object = static_cast<int>(Number());
      Expect(")");
    } else {
      i.op = Take("fadd(") ? Op::kFetchAdd : Take("xchg(") ? Op::kExchange : Op::kAdd;
      if (i.op == Op::kAdd) Expect("add(");
      i.object = Index(program_.variables, Name());
      Expect(",");
      i.first = Expr();
      Expect(")");
    }
    code.push_back(i);
  }

  bool TryInto(const char* word, Op op, std::map<std::string, int>& table, int destination,
               std::vector<Instruction>& code) {
    if (!Simple(word, op, table, code)) return false;
    code.back().destination = destination;
    return true;
  }

  void Assignment(std::vector<Instruction>& code) {
    const std::string name = Name();
    Expect("=");
    Instruction i;
    if (!IsRegister(name)) {
      // "r=fadd(..)" uses a register without a number
      if (name == "r" && (Peek("fadd(") || Peek("cas(") || Peek("xchg("))) return Call(9, code);
      i.op = Op::kStore;
      i.object = Index(program_.variables, name);
      i.first = Expr();
      code.push_back(i);
      return;
    }
    i.destination = name[1] - '0';
    const int r = i.destination;
    Program& p = program_;
    if (Peek("cas(") || Peek("fadd(") || Peek("xchg(") || Peek("choose(")) return Call(r, code);
    if (TryInto("trylock", Op::kTryLock, p.mutexes, r, code) ||
        Wait("timedwait", Op::kTimedWait, r, code) ||
        TryInto("tryP", Op::kSemTry, p.semaphores, r, code) ||
        TryInto("tryrd", Op::kTryRead, p.rwlocks, r, code) ||
        TryInto("trywr", Op::kTryWrite, p.rwlocks, r, code)) {
      return;
    }
    if (TakeWord("new")) {
      i.op = Op::kNew;
    } else if (Take("*")) {
      i.op = Op::kLoadIndirect;
      i.address_register = Name()[1] - '0';
    } else {
      const size_t start = position_;
      if (!AtNumber()) {
        const std::string source = Name();
        if (!IsRegister(source)) {
          i.op = Op::kLoad;
          i.object = Index(program_.variables, source);
          code.push_back(i);
          return;
        }
      }
      position_ = start;
      i.op = Op::kMove;
      i.first = Expr();
    }
    code.push_back(i);
  }

  void Option() {
    const std::string name = Name();
    Program& p = program_;
    if (name == "full" && Take("-barriers")) {
      p.full_barriers = true;
    } else if (name == "posts" && Take("-commute")) {
      p.posts_commute = true;
    } else if (TakeWord("recursive")) {
      recursive_.push_back(Index(p.mutexes, name));
    } else if (TakeWord("for")) {
      counts_[Index(p.barriers, name)] = static_cast<int>(Number());
    } else {
      Expect("=");
      initial_[Index(p.semaphores, name)] = Number();
    }
    Expect("]");
  }

  void FillTables() {
    Program& p = program_;
    p.recursive.assign(p.mutexes.size(), false);
    for (int m : recursive_) p.recursive[m] = true;
    p.semaphore_initial.assign(p.semaphores.size(), 0);
    for (auto [s, value] : initial_) p.semaphore_initial[s] = value;
    p.barrier_count.assign(p.barriers.size(), 2);
    for (auto [b, count] : counts_) p.barrier_count[b] = count;
    for (const ThreadCode& thread : p.threads) {
      for (const Instruction& i : thread.code) {
        if ((i.op == Op::kCreate || i.op == Op::kJoin) &&
            static_cast<size_t>(i.object) >= p.threads.size()) {
          Fail("there is no such thread");
        }
      }
    }
  }

  const std::string& text_;
  Program& program_;
  size_t position_ = 0;
  bool ok_ = true;
  std::string error_;
  std::vector<int> recursive_;
  std::map<int, int64_t> initial_;
  std::map<int, int> counts_;
};

}  // namespace

bool Parse(const std::string& text, Program* program, std::string* error) {
  *program = Program();
  const std::string copy = text;
  Parser parser(copy, program);
  return parser.Run(error);
}

Program ParseOrDie(const std::string& text) {
  Program program;
  std::string error;
  if (!Parse(text, &program, &error)) {
    fprintf(stderr, "toy program: %s\n", error.c_str());
    abort();
  }
  return program;
}

}  // namespace mc::toy
