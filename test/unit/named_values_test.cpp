#include "core/base/named_values.h"

#include <gtest/gtest.h>

namespace neardup::named_values_test {
namespace {

enum class Colour { red, green, blue };

constexpr NamedValue<Colour> kOne[] = {{"red", Colour::red}};
constexpr NamedValue<Colour> kTwo[] = {{"red", Colour::red}, {"green", Colour::green}};
constexpr NamedValue<Colour> kThree[] = {{"red", Colour::red}, {"green", Colour::green}, {"rouge", Colour::red}};

TEST(NamedValues, FindsNamesLetterByLetter) {
  EXPECT_EQ(value_named(kThree, "green"), Colour::green);
  EXPECT_EQ(value_named(kThree, "rouge"), Colour::red);
  for (const char* name : {"", "Red", "re", "redd", "blue"}) EXPECT_EQ(value_named(kThree, name), std::nullopt) << name;
}

TEST(NamedValues, AValueHasItsFirstName) {
  EXPECT_STREQ(find_name(kThree, Colour::red), "red");
  EXPECT_STREQ(find_name(kThree, Colour::blue), "?");
  EXPECT_EQ(find_name(kThree, Colour::blue, nullptr), nullptr);
}

TEST(NamedValues, ListsThemForMessages) {
  EXPECT_STREQ(list_names(kOne, "'", "or").text, "'red'");
  EXPECT_STREQ(list_names(kTwo, "'", "and").text, "'red' and 'green'");
  EXPECT_STREQ(list_names(kThree, "", "or").text, "red, green or rouge");
  constexpr NamedValue<int> kLong[] = {
      {"a name that is a good deal longer than what a list of names has room for, so", 1},
      {"that the second of them is cut, and this is cut somewhere, not overrun", 2}};
  EXPECT_EQ(std::string_view(list_names(kLong, "", "or").text).size(), sizeof(NameList) - 1);
}

}  // namespace
}  // namespace neardup::named_values_test
