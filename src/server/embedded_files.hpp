// Files of this folder that are part of the program. CMakeLists.txt makes the source.
#pragma once

#include <array>
#include <string_view>

namespace clew::server {

extern const std::string_view kDocsPage;  // docs_page.html

extern const std::array<std::string_view, 8> kOpenApiParts;  // openapi/*.json, common ones first

}  // namespace clew::server
