// The tree of explored interleavings, as a graph of the dot language.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checker/picture.h"
#include "checker/picture_text.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

// Lines of a box: a longer run of one thread's steps shows its beginning and its end.
constexpr size_t kMostLines = 7;
constexpr size_t kLinesAtFront = 4;
constexpr size_t kLineLength = 60;

// What decides where an execution goes: which thread, with which choices.
using Decision = std::pair<uint32_t, std::vector<uint32_t>>;

struct Node {
  const PictureStep* step = nullptr;  // null in the root
  std::map<Decision, size_t> children;
  std::vector<size_t> order;         // the shown children, in the order they were first explored
  size_t executions = 0;             // that pass through it or end here, shown or not
  size_t shown = 0;                  // of these, how many are drawn
  std::array<size_t, 3> ended = {};  // by PictureOutcome: drawn executions that end here
  bool racing = false, failing = false;  // in some drawn execution
};

class Tree {
 public:
  Tree(const std::vector<PictureExecution>& executions, const PictureOptions& options)
      : executions_(executions), options_(options), nodes_(1) {
    // Buggy executions first, but others for comparison.
    taken_.resize(executions.size());
    Choose(true, options.max_executions - options.max_executions / 4);
    Choose(false, options.max_executions);
    Choose(true, options.max_executions);
    CountAll();
  }

  std::string AsDot() const;

 private:
  void Choose(bool buggy, size_t limit);
  bool Add(const PictureExecution& execution);
  void CountAll();
  size_t EndOfRun(size_t node) const;
  void AppendBox(size_t first, size_t last, std::string* dot) const;
  void AppendLeaves(size_t box, size_t node, std::string* dot) const;
  std::string Heading() const;

  static Decision DecisionOf(const PictureStep& step) { return {step.thread, step.choices}; }

  const std::vector<PictureExecution>& executions_;
  const PictureOptions& options_;
  std::vector<Node> nodes_;  // [0] is the root
  std::vector<bool> taken_;  // by execution: it is drawn
  size_t shown_ = 0;         // different ones among them
};

// Takes in executions with a bug, or those without, as far as there is room.
void Tree::Choose(bool buggy, size_t limit) {
  for (size_t i = 0; i < executions_.size(); ++i) {
    if (taken_[i] || (executions_[i].outcome == PictureOutcome::kBug) != buggy) continue;
    if (shown_ > 0 && (shown_ >= limit || nodes_.size() > options_.max_tree_steps)) return;
    taken_[i] = true;
    shown_ += Add(executions_[i]);
  }
}

// False if the same execution is there already, in which case it only counts.
bool Tree::Add(const PictureExecution& execution) {
  size_t at = 0;
  ++nodes_[0].shown;
  for (const PictureStep& step : execution.steps) {
    const auto [child, fresh] = nodes_[at].children.try_emplace(DecisionOf(step), nodes_.size());
    const size_t next = child->second;
    if (fresh) {
      nodes_[at].order.push_back(next);
      nodes_.emplace_back();
      nodes_[next].step = &step;
    }
    at = next;
    ++nodes_[at].shown;
    nodes_[at].racing |= step.racing;
    nodes_[at].failing |= step.failing;
  }
  return nodes_[at].ended[static_cast<size_t>(execution.outcome)]++ == 0;
}

void Tree::CountAll() {
  for (const PictureExecution& execution : executions_) {
    size_t at = 0;
    ++nodes_[0].executions;
    for (const PictureStep& step : execution.steps) {
      const auto child = nodes_[at].children.find(DecisionOf(step));
      if (child == nodes_[at].children.end()) break;
      at = child->second;
      ++nodes_[at].executions;
    }
  }
}

// The last node of the run that begins at `node`: the same thread's steps, as long as everything
// goes through them.
size_t Tree::EndOfRun(size_t node) const {
  for (;;) {
    const Node& n = nodes_[node];
    if (n.order.size() != 1) return node;
    const Node& child = nodes_[n.order[0]];
    if (child.step->thread != n.step->thread || child.executions != n.executions) return node;
    node = n.order[0];
  }
}

std::string LineOf(const PictureStep& step) {
  const std::string where = step.where.empty() ? "" : absl::StrCat("   ", step.where);
  return Shortened(absl::StrCat(WhatOf(step), where), kLineLength);
}

// One box for the run from `first` to `last`; its name is that of `first`.
void Tree::AppendBox(size_t first, size_t last, std::string* dot) const {
  std::vector<const PictureStep*> steps;
  bool racing = false, failing = false;
  for (size_t at = first;; at = nodes_[at].order[0]) {
    steps.push_back(nodes_[at].step);
    racing |= nodes_[at].racing;
    failing |= nodes_[at].failing;
    if (at == last) break;
  }
  const uint32_t thread = steps[0]->thread;
  std::string label = absl::StrCat(DotEscaped(ThreadTitle(*steps[0])), ":  ");
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > kMostLines && i == kLinesAtFront) {
      const size_t left_out = steps.size() - kMostLines + 1;
      absl::StrAppend(&label, "    … ", left_out, " more steps …\\l");
      i += left_out;
    }
    absl::StrAppend(&label, i == 0 ? "" : "    ", DotEscaped(LineOf(*steps[i])), "\\l");
  }
  const std::string_view fill = failing  ? kFailingFill
                                : racing ? kRacingFill
                                         : FillOfThread(thread);
  const std::string_view stroke = failing  ? kFailingStroke
                                  : racing ? kRacingStroke
                                           : StrokeOfThread(thread);
  absl::StrAppend(dot, "  n", first, " [label=\"", label, "\", fillcolor=\"", View(fill),
                  "\", color=\"", View(stroke), "\"];\n");
}

// What ends at `node`, the last of the run drawn as `box`, and what is left out below it.
void Tree::AppendLeaves(size_t box, size_t node, std::string* dot) const {
  struct Style {
    const char *text, *attributes;
  };
  static constexpr Style kStyles[] = {
      {"ok", "shape=ellipse, fillcolor=\"#d8f0d8\", color=\"#3a8a3a\""},
      {"BUG", "shape=octagon, fillcolor=\"#e03030\", color=\"#900000\", fontcolor=\"white\""},
      {"blocked", "shape=ellipse, fillcolor=\"#e4e4e4\", color=\"#888888\""}};
  const Node& n = nodes_[node];
  for (size_t outcome = 0; outcome < n.ended.size(); ++outcome) {
    if (n.ended[outcome] == 0) continue;
    const std::string times = n.ended[outcome] > 1 ? absl::StrCat(" ×", n.ended[outcome]) : "";
    const std::string leaf = absl::StrCat("e", node, "_", outcome);
    absl::StrAppend(dot, "  ", leaf, " [label=\"", kStyles[outcome].text, times, "\", ",
                    kStyles[outcome].attributes, ", margin=\"0.06,0.02\"];\n  n", box, " -> ", leaf,
                    ";\n");
  }
  size_t below = 0;
  for (const size_t child : n.order) below += nodes_[child].executions;
  const size_t here = n.ended[0] + n.ended[1] + n.ended[2];
  if (n.executions > below + here) {
    absl::StrAppend(dot, "  m", node, " [label=\"+", n.executions - below - here,
                    " more\", shape=plaintext, style=\"\", fontcolor=\"#666666\"];\n  n", box,
                    " -> m", node, " [style=dashed, arrowhead=none];\n");
  }
}

std::string Tree::Heading() const {
  std::array<size_t, 3> outcomes = {};
  for (const PictureExecution& e : executions_) ++outcomes[static_cast<size_t>(e.outcome)];
  std::string text = options_.title;
  if (!text.empty()) text += '\n';
  absl::StrAppend(&text, Count(executions_.size(), "execution"));
  if (outcomes[1] > 0) absl::StrAppend(&text, ", ", outcomes[1], " with a bug");
  if (outcomes[2] > 0) absl::StrAppend(&text, ", ", outcomes[2], " blocked");
  if (nodes_[0].shown < executions_.size()) absl::StrAppend(&text, "; ", nodes_[0].shown, " shown");
  return text;
}

std::string Tree::AsDot() const {
  std::string dot = absl::StrCat(
      "digraph tree {\n  label=\"", DotEscaped(Heading()),
      "\";\n  labelloc=t; fontname=\"sans-serif\"; fontsize=16; nodesep=0.25; ranksep=0.35;\n"
      "  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=11, "
      "margin=\"0.12,0.06\"];\n"
      "  edge [color=\"#777777\", arrowsize=0.6];\n"
      "  n0 [label=\"start\", shape=ellipse, fillcolor=\"#f2f2f2\", color=\"#777777\"];\n");
  // Depth first with a stack of its own: executions can be long. (box's name, last node of its run)
  std::vector<std::pair<size_t, size_t>> open = {{0, 0}};
  while (!open.empty()) {
    const auto [name, last] = open.back();
    open.pop_back();
    AppendLeaves(name, last, &dot);
    for (const size_t child : nodes_[last].order) {
      const size_t end = EndOfRun(child);
      AppendBox(child, end, &dot);
      absl::StrAppend(&dot, "  n", name, " -> n", child, ";\n");
      open.emplace_back(child, end);
    }
  }
  return dot + "}\n";
}

}  // namespace

std::string TreeAsDot(const std::vector<PictureExecution>& executions,
                      const PictureOptions& options) {
  return Tree(executions, options).AsDot();
}

}  // namespace mc::checker
