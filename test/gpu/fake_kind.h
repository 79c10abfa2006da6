// The behaviour of the double of fake_module.cpp, set by the object file that is linked: so the module compiles once.
#pragma once

namespace neardup::fake {

enum class Kind {
  no_driver,       // what the real module says where there is no driver
  count_fails,     // a driver that answers with an error
  failing_device,  // device 0 cannot be described, device 1 not used, device 2 works; texts out of bounds
  two_fine,        // two good devices, which search; the name of the first tells how often
  create_fails,    // searches cannot be made
  lost,            // the device is lost in the middle of a search
  memory_once,     // the first search finds no memory
  never_ends,      // searches go on for ever
};

extern const Kind kKind;

}  // namespace neardup::fake
