// Makes the text that says how to cite emomc from CITATION.cff.
#pragma once

#include <string>

namespace emomc::app {

/// A citation as a sentence and as a BibTeX entry.
struct Citation {
  std::string sentence, bibtex;
};

/// Reads title, authors (name, or given-names and family-names), version, date-released, doi and
/// repository-code of a file in the Citation File Format; fields that are not there are left out.
Citation citation_of(const std::string& cff);

}  // namespace emomc::app
