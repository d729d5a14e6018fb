#include "checker/picture.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "absl/strings/str_cat.h"
#include "checker/picture_text.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

absl::Status WriteFile(const std::string& path, const std::string& content) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (file.fail()) {
    return absl::UnavailableError(
        absl::StrCat("cannot write the picture ", path, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

// `make_svg` is called only if an SVG is needed.
absl::Status Draw(const std::string& path, const PictureOptions& options,
                  const std::function<std::string()>& make_dot,
                  const std::function<absl::Status(std::string*)>& make_svg) {
  const absl::StatusOr<PictureFormat> format = PictureFormatOf(path);
  if (!format.ok()) return format.status();
  if (*format == PictureFormat::kDot) return WriteFile(path, make_dot());
  std::string svg;
  if (const absl::Status status = make_svg(&svg); !status.ok()) return status;
  return WriteFile(path, *format == PictureFormat::kSvg ? svg : SvgAsHtml(svg, options.title));
}

}  // namespace

absl::StatusOr<PictureFormat> PictureFormatOf(std::string_view path) {
  if (path.ends_with(".dot") || path.ends_with(".gv")) return PictureFormat::kDot;
  if (path.ends_with(".svg")) return PictureFormat::kSvg;
  if (path.ends_with(".html") || path.ends_with(".htm")) return PictureFormat::kHtml;
  return absl::InvalidArgumentError(
      absl::StrCat("the picture's file name must end in .dot, .svg or .html: ", View(path)));
}

absl::Status DrawTree(const std::string& path, const std::vector<PictureExecution>& executions,
                      const PictureOptions& options) {
  const auto make_dot = [&] { return TreeAsDot(executions, options); };
  return Draw(path, options, make_dot, [&](std::string* svg) { return RunDot(make_dot(), svg); });
}

absl::Status DrawLanes(const std::string& path, const PictureExecution& execution,
                       const PictureOptions& options) {
  return Draw(
      path, options, [&] { return LanesAsDot(execution, options); },
      [&](std::string* svg) {
        *svg = LanesAsSvg(execution, options);
        return absl::OkStatus();
      });
}

std::string SvgAsHtml(std::string_view svg, std::string_view title) {
  const size_t begin = svg.find("<svg");
  if (begin != std::string_view::npos) svg.remove_prefix(begin);
  const std::string escaped = XmlEscaped(title);
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>", escaped,
      "</title>\n<style>\n"
      "body { margin: 24px; background: #fff; color: #222; font-family: sans-serif; }\n"
      "h1 { font-size: 18px; font-weight: 600; }\n"
      ".picture { overflow: auto; }\n"
      "svg .step:hover rect, svg .node:hover polygon { stroke-width: 3; }\n"
      "svg .arrow:hover path { stroke: #000; stroke-opacity: 1; stroke-width: 2.5; }\n"
      "</style>\n</head>\n<body>\n<h1>",
      escaped, "</h1>\n<div class=\"picture\">\n", View(svg), "\n</div>\n</body>\n</html>\n");
}

}  // namespace mc::checker
