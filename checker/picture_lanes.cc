// The swim-lane diagram of one interleaving, as SVG of our own: the layout is a table.
#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "checker/picture.h"
#include "checker/picture_order.h"
#include "checker/picture_text.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

// Pixels. Text is measured by its number of characters: a picture must not depend on fonts.
constexpr double kMargin = 20;
constexpr double kNumberWidth = 44;
constexpr double kTitleHeight = 34;
constexpr double kHeadHeight = 30;
constexpr double kRowHeight = 50;
constexpr double kBoxHeight = 36;
constexpr double kLowBoxHeight = 24;  // of a step without a place
constexpr double kLaneGap = 44;
constexpr double kCharacterWidth = 7.0;
constexpr double kSmallCharacterWidth = 6.0;
constexpr double kMinLaneWidth = 110;
constexpr size_t kMostCharacters = 42;
constexpr double kLegendHeight = 44;

struct Lane {
  std::string title;
  uint32_t thread = 0;
  double left = 0, width = kMinLaneWidth;
  size_t first_row = 0, last_row = 0;
  double Center() const { return left + width / 2; }
};

std::string Number(double value) { return absl::StrFormat("%.6g", std::round(value * 10) / 10); }

class LanesPicture {
 public:
  LanesPicture(const PictureExecution& execution, const PictureOptions& options)
      : options_(options),
        first_(execution.steps.size() - std::min(execution.steps.size(), options.max_lane_steps)),
        steps_(execution.steps.begin() + static_cast<ptrdiff_t>(first_), execution.steps.end()),
        outcome_(execution.outcome) {
    LayOut();
  }

  std::string AsSvg() const;

 private:
  void LayOut();
  double RowCenter(size_t row) const {
    return top_ + kRowHeight * (static_cast<double>(row) + 0.5);
  }
  const Lane& LaneOf(const PictureStep& step) const { return lanes_[lane_of_.at(step.thread)]; }
  static double BoxHeight(const PictureStep& step) {
    return step.where.empty() ? kLowBoxHeight : kBoxHeight;
  }
  std::string Heading() const;
  std::string Heads() const;
  std::string Arrow(const OrderArrow& arrow) const;
  std::string Box(size_t row) const;
  std::string Legend() const;

  const PictureOptions& options_;
  const size_t first_;  // number of steps that are left out
  const std::vector<PictureStep> steps_;
  const PictureOutcome outcome_;
  std::vector<Lane> lanes_;
  std::map<uint32_t, size_t> lane_of_;
  double top_ = 0, width_ = 0, height_ = 0;
};

// The lanes from left to right in the order of thread numbers, each as wide as its texts need.
void LanesPicture::LayOut() {
  std::map<uint32_t, Lane> lanes;
  for (size_t row = 0; row < steps_.size(); ++row) {
    const PictureStep& step = steps_[row];
    const auto [place, fresh] = lanes.try_emplace(step.thread);
    Lane& lane = place->second;
    if (fresh) {
      lane.title = Shortened(ThreadTitle(step), kMostCharacters);
      lane.thread = step.thread;
      lane.first_row = row;
    }
    lane.last_row = row;
    const auto characters = [](const std::string& text) {
      return static_cast<double>(std::min(CharacterCount(text), kMostCharacters));
    };
    lane.width = std::max({lane.width, characters(WhatOf(step)) * kCharacterWidth + 24,
                           characters(step.where) * kSmallCharacterWidth + 24,
                           characters(lane.title) * kCharacterWidth + 32});
  }
  double left = kMargin + kNumberWidth;
  for (auto& [thread, lane] : lanes) {
    lane.left = left;
    left += lane.width + kLaneGap;
    lane_of_[thread] = lanes_.size();
    lanes_.push_back(lane);
  }
  top_ = kMargin + kTitleHeight + kHeadHeight + 10;
  if (first_ > 0) top_ += 26;
  width_ = std::max({left - kLaneGap + kMargin, 560.0,
                     2 * kMargin + 8.5 * static_cast<double>(CharacterCount(Heading()))});
  height_ = top_ + kRowHeight * static_cast<double>(steps_.size()) + kLegendHeight + kMargin;
}

std::string LanesPicture::Heading() const {
  return Shortened(options_.title.empty() ? "One interleaving" : options_.title, 110);
}

std::string LanesPicture::Heads() const {
  std::string svg;
  const double head_top = kMargin + kTitleHeight;
  for (const Lane& lane : lanes_) {
    const std::string_view stroke = StrokeOfThread(lane.thread);
    absl::StrAppend(&svg, "<line x1=\"", Number(lane.Center()), "\" y1=\"",
                    Number(head_top + kHeadHeight), "\" x2=\"", Number(lane.Center()), "\" y2=\"",
                    Number(RowCenter(lane.last_row)), "\" stroke=\"", View(stroke),
                    "\" stroke-width=\"1.5\" stroke-dasharray=\"2 4\"/>\n");
    absl::StrAppend(&svg, "<rect x=\"", Number(lane.left), "\" y=\"", Number(head_top),
                    "\" width=\"", Number(lane.width), "\" height=\"", Number(kHeadHeight),
                    "\" rx=\"15\" fill=\"", View(stroke), "\"/>\n<text x=\"", Number(lane.Center()),
                    "\" y=\"", Number(head_top + 20),
                    "\" text-anchor=\"middle\" fill=\"#fff\" font-weight=\"bold\">",
                    XmlEscaped(lane.title), "</text>\n");
  }
  if (first_ > 0) {
    absl::StrAppend(&svg, "<text x=\"", Number(kMargin), "\" y=\"", Number(top_ - 10),
                    "\" font-size=\"11\" fill=\"#777\">", Count(first_, "earlier step"),
                    " not shown</text>\n");
  }
  return svg;
}

// From the side of one box to the facing side of the other.
std::string LanesPicture::Arrow(const OrderArrow& arrow) const {
  const PictureStep &from = steps_[arrow.from], &to = steps_[arrow.to];
  const Lane &from_lane = LaneOf(from), &to_lane = LaneOf(to);
  const bool rightwards = from_lane.left < to_lane.left;
  const double x1 = rightwards ? from_lane.left + from_lane.width : from_lane.left;
  const double x2 =
      (rightwards ? to_lane.left : to_lane.left + to_lane.width) + (rightwards ? -2 : 2);
  const double y1 = RowCenter(arrow.from) + BoxHeight(from) * 0.2;
  const double y2 = RowCenter(arrow.to) - BoxHeight(to) * 0.2;
  const double bend = std::min(kLaneGap * 0.9, std::abs(x2 - x1) * 0.5) * (rightwards ? 1 : -1);
  const bool race = from.racing && to.racing;
  const std::string title =
      absl::StrCat("step ", first_ + arrow.from + 1, " happens before step ", first_ + arrow.to + 1,
                   ": both use ", CellText(arrow.cell));
  return absl::StrCat("<g class=\"arrow\"><title>", XmlEscaped(title), "</title><path d=\"M ",
                      Number(x1), " ", Number(y1), " C ", Number(x1 + bend), " ", Number(y1), ", ",
                      Number(x2 - bend), " ", Number(y2), ", ", Number(x2), " ", Number(y2),
                      "\" fill=\"none\" stroke=\"", race ? View(kRacingStroke) : "#555",
                      "\" stroke-opacity=\"0.75\" stroke-width=\"1.4\"",
                      race ? " stroke-dasharray=\"6 3\"" : "", " marker-end=\"url(#",
                      race ? "race-head" : "order-head", ")\"/></g>\n");
}

std::string LanesPicture::Box(size_t row) const {
  const PictureStep& step = steps_[row];
  const Lane& lane = LaneOf(step);
  const double height = BoxHeight(step);
  const double y = RowCenter(row) - height / 2;
  const std::string_view fill = step.failing  ? kFailingFill
                                : step.racing ? kRacingFill
                                              : FillOfThread(step.thread);
  const std::string_view stroke = step.failing  ? kFailingStroke
                                  : step.racing ? kRacingStroke
                                                : StrokeOfThread(step.thread);
  std::string hover =
      absl::StrCat("step ", first_ + row + 1, ", ", ThreadTitle(step), ": ", WhatOf(step));
  if (!step.where.empty()) absl::StrAppend(&hover, "\n", step.where);
  if (!step.details.empty()) absl::StrAppend(&hover, "\n", step.details);
  std::string svg = absl::StrCat(
      "<text x=\"", Number(kMargin + kNumberWidth - 18), "\" y=\"", Number(RowCenter(row) + 4),
      "\" text-anchor=\"end\" font-size=\"10\" fill=\"#999\">", first_ + row + 1, "</text>\n");
  absl::StrAppend(&svg, "<g class=\"step", step.failing ? " failing" : "",
                  step.racing ? " racing" : "", "\"><title>", XmlEscaped(hover),
                  "</title><rect x=\"", Number(lane.left), "\" y=\"", Number(y), "\" width=\"",
                  Number(lane.width), "\" height=\"", Number(height), "\" rx=\"5\" fill=\"",
                  View(fill), "\" stroke=\"", View(stroke), "\" stroke-width=\"",
                  step.failing || step.racing ? "2" : "1.2", "\"/>");
  absl::StrAppend(&svg, "<text x=\"", Number(lane.Center()), "\" y=\"",
                  Number(y + (step.where.empty() ? 16 : 15)), "\" text-anchor=\"middle\">",
                  XmlEscaped(Shortened(WhatOf(step), kMostCharacters)), "</text>");
  if (!step.where.empty()) {
    absl::StrAppend(&svg, "<text x=\"", Number(lane.Center()), "\" y=\"", Number(y + 29),
                    "\" text-anchor=\"middle\" font-size=\"10\" fill=\"#555\">",
                    XmlEscaped(ShortenedAtFront(step.where, kMostCharacters)), "</text>");
  }
  return svg + "</g>\n";
}

// Explains the colours that occur.
std::string LanesPicture::Legend() const {
  const auto any = [&](bool PictureStep::*mark) {
    return std::any_of(steps_.begin(), steps_.end(), [&](const PictureStep& s) { return s.*mark; });
  };
  const double y = height_ - kMargin - 14;
  double x = kMargin + kNumberWidth;
  std::string svg = absl::StrCat("<g class=\"legend\" font-size=\"11\" fill=\"#444\">\n");
  const auto entry = [&](const std::string& sign, std::string_view text) {
    absl::StrAppend(&svg, sign, "<text x=\"", Number(x + 34), "\" y=\"", Number(y + 4), "\">",
                    View(text), "</text>\n");
    x += 34 + 6.4 * static_cast<double>(CharacterCount(text)) + 22;
  };
  const auto sample_box = [&](std::string_view fill, std::string_view stroke) {
    return absl::StrCat("<rect x=\"", Number(x), "\" y=\"", Number(y - 7),
                        "\" width=\"26\" height=\"14\" rx=\"4\" fill=\"", View(fill),
                        "\" stroke=\"", View(stroke), "\" stroke-width=\"1.5\"/>");
  };
  entry(absl::StrCat("<path d=\"M ", Number(x), " ", Number(y),
                     " h 25\" stroke=\"#555\" "
                     "stroke-width=\"1.4\" marker-end=\"url(#order-head)\"/>"),
        "happens before");
  entry(sample_box("#f2f2f2", "#777777"), "step (time runs down)");
  if (any(&PictureStep::racing)) entry(sample_box(kRacingFill, kRacingStroke), "data race");
  if (any(&PictureStep::failing)) entry(sample_box(kFailingFill, kFailingStroke), "failure");
  if (outcome_ == PictureOutcome::kBlocked) entry("", "abandoned before its end");
  return svg + "</g>\n";
}

std::string LanesPicture::AsSvg() const {
  std::string svg = absl::StrCat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"",
      Number(width_), "\" height=\"", Number(height_), "\" viewBox=\"0 0 ", Number(width_), " ",
      Number(height_), "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<title>",
      XmlEscaped(Heading()), "</title>\n<defs>\n");
  const auto head = [&](std::string_view id, std::string_view color) {
    absl::StrAppend(&svg, "<marker id=\"", View(id),
                    "\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
                    "markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
                    "orient=\"auto\"><path d=\"M 0 0 L 8 4 L 0 8 z\" fill=\"",
                    View(color), "\"/></marker>\n");
  };
  head("order-head", "#555");
  head("race-head", kRacingStroke);
  absl::StrAppend(&svg, "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"",
                  Number(kMargin), "\" y=\"", Number(kMargin + 16),
                  "\" font-size=\"16\" font-weight=\"bold\">", XmlEscaped(Heading()), "</text>\n",
                  Heads());
  for (const OrderArrow& arrow : ReducedHappensBefore(steps_)) svg += Arrow(arrow);
  for (size_t row = 0; row < steps_.size(); ++row) svg += Box(row);
  return absl::StrCat(svg, Legend(), "</svg>\n");
}

}  // namespace

std::string LanesAsSvg(const PictureExecution& execution, const PictureOptions& options) {
  return LanesPicture(execution, options).AsSvg();
}

}  // namespace mc::checker
