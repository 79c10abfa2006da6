// `neardup demo-plant`: labelled, edited copies of loaded texts, for ./run demo.
#pragma once

namespace neardup::cli {

// demo-plant TABLE COUNT: copies COUNT texts of 100 words or more with 2 % of their words replaced into the same table,
// as path 'planted/NNN of <path>'. The same table gives the same copies. Prints how many were planted.
int demo_plant_main(int argc, char** argv);

}  // namespace neardup::cli
