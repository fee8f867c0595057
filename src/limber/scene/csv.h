// Numbers in a text: a row a line, separated by commas, semicolons or blanks, `#` for comments. The last line
// before them that is none of numbers names the columns, with units in brackets: "time [ms], angle [deg]".
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace limber::scene {

struct Csv {
  struct Name {
    std::string text, unit;  // unit: empty if none is given
    bool certain = false;    // in [ ]: it must be one; in ( ) it may be a remark
  };
  std::vector<Name> names;  // empty: no such line
  int names_line = 0;
  std::vector<std::vector<double>> rows;  // all of one length
  std::vector<int> lines;                 // of the rows, from 1
};

struct CsvError : std::runtime_error {
  CsvError(int at, const std::string& what) : std::runtime_error(what), line(at) {}
  int line;
};

// Throws CsvError.
Csv parse_csv(std::string_view text);

}  // namespace limber::scene
