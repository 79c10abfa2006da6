# PGXS build of the extension, the program `neardup` and, where nvcc is found, the GPU module.
#   make [PG_CONFIG=...] [CUDA=auto|yes|no]     make install     make installcheck
#   WITH_UCHARDET=auto|yes|no WITH_OPENCC=... WITH_RE2=...   optional libraries: found by pkg-config, insisted on, left out

EXTENSION = neardup
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" neardup.control)
MODULE_big = neardup

CORE_OBJS := $(patsubst %.cpp,%.o,$(sort $(wildcard src/core/*.cpp)))
PG_OBJS := $(patsubst %.cpp,%.o,$(sort $(wildcard src/pg/*.cpp src/pg/lsh/*.cpp)))
TEXT_OBJS := $(patsubst %.cpp,%.o,$(sort $(wildcard src/text/*.cpp)))
OBJS = $(CORE_OBJS) $(TEXT_OBJS) $(PG_OBJS)

DATA_built = sql/neardup--$(EXTVERSION).sql
DATA = $(wildcard sql/upgrade/*.sql)
REGRESS = $(patsubst sql/%.sql,%,$(sort $(filter-out sql/neardup--%.sql,$(wildcard sql/*.sql))))
REGRESS_OPTS = --inputdir=. --load-extension=neardup
SCRIPTS_built = bin/neardup
EXTRA_CLEAN = bin sql/neardup--*.sql src/text/.libraries

# Bitcode for JIT inlining is not built: our functions are too large to inline, and it would need clang.
override with_llvm = no
SHLIB_LINK = -lstdc++ -ldl

# What src/text is built on, where it is there. pkg-config knows the flags; NAME and the package that it knows.
PKG_CONFIG ?= pkg-config
TEXT_CPPFLAGS :=
define optional_library
WITH_$(1) ?= auto
ifeq ($$(filter auto yes no,$$(WITH_$(1))),)
$$(error WITH_$(1) must be auto, yes or no: $$(WITH_$(1)))
endif
ifneq ($$(WITH_$(1)),no)
ifeq ($$(shell $$(PKG_CONFIG) --exists $(2) 2>/dev/null && echo yes),yes)
TEXT_CPPFLAGS += -DNEARDUP_WITH_$(1) $$(shell $$(PKG_CONFIG) --cflags $(2))
SHLIB_LINK += $$(shell $$(PKG_CONFIG) --libs $(2))
else ifeq ($$(WITH_$(1)),yes)
$$(error WITH_$(1)=yes, but pkg-config knows no $(2) (Debian: lib$(2)-dev))
endif
endif
endef
$(foreach library,uchardet opencc re2,$(eval $(call optional_library,$(shell echo $(library) | tr a-z A-Z),$(library))))

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
# Not every package of PostgreSQL has the program.
ifneq ($(wildcard $(dir $(PGXS))../test/isolation/pg_isolation_regress),)
ISOLATION = $(patsubst test/isolation/specs/%.spec,%,$(sort $(wildcard test/isolation/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test/isolation --load-extension=neardup
endif
include $(PGXS)
override with_llvm = no

# PostgreSQL's own headers are not ours to warn about.
override CPPFLAGS := -Isrc $(patsubst -I%,-isystem %,$(CPPFLAGS))
override CXXFLAGS += -std=c++20 -Wextra -Wno-unused-parameter
src/pg/fn_version.o: override CPPFLAGS += -DNEARDUP_VERSION='"$(EXTVERSION)"'
src/pg/fn_version.o: neardup.control
# The core is ours alone: hidden, so that it cannot collide with another C++ extension in the same backend.
$(CORE_OBJS) $(TEXT_OBJS): override CXXFLAGS += -O3 -fvisibility=hidden -fvisibility-inlines-hidden
$(TEXT_OBJS): override CPPFLAGS += $(patsubst -I%,-isystem %,$(TEXT_CPPFLAGS))
# Made again when a library has come or gone.
src/text/.libraries: FORCE
	@echo '$(TEXT_CPPFLAGS)' | cmp -s - $@ || echo '$(TEXT_CPPFLAGS)' > $@
FORCE:
.PHONY: FORCE
$(TEXT_OBJS): src/text/.libraries

HEADERS := $(wildcard src/core/*.h src/core/*.inc src/text/*.h src/pg/*.h src/pg/lsh/*.h src/gpu/*.h)
$(OBJS): $(HEADERS)

sql/neardup--$(EXTVERSION).sql: $(sort $(wildcard sql/install/*.sql)) neardup.control
	cat $(sort $(wildcard sql/install/*.sql)) > $@

CLI_SRC := $(sort $(wildcard src/cli/*.cpp))
all: bin/neardup
bin/neardup: $(CLI_SRC) $(wildcard src/cli/*.h)
	@mkdir -p bin
	$(CXX) -std=c++20 -O2 -Wall -Wextra -Isrc -I$(shell $(PG_CONFIG) --includedir) $(CLI_SRC) -o $@ \
	  -L$(shell $(PG_CONFIG) --libdir) -lpq -lz

include src/gpu/gpu.mk
