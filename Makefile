# PGXS build of the extension, the program `neardup` and, where nvcc is found, the GPU module.
#   make [PG_CONFIG=...] [CUDA=auto|yes|no]     make install     make installcheck

EXTENSION = neardup
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" neardup.control)
MODULE_big = neardup

CORE_OBJS := $(patsubst %.cpp,%.o,$(sort $(wildcard src/core/*.cpp)))
PG_OBJS := $(patsubst %.cpp,%.o,$(sort $(wildcard src/pg/*.cpp src/pg/lsh/*.cpp)))
OBJS = $(CORE_OBJS) $(PG_OBJS)

DATA_built = sql/neardup--$(EXTVERSION).sql
DATA = $(wildcard sql/upgrade/*.sql)
REGRESS = $(patsubst sql/%.sql,%,$(sort $(filter-out sql/neardup--%.sql,$(wildcard sql/*.sql))))
REGRESS_OPTS = --inputdir=. --load-extension=neardup
SCRIPTS_built = bin/neardup
EXTRA_CLEAN = bin sql/neardup--*.sql

# Bitcode for JIT inlining is not built: our functions are too large to inline, and it would need clang.
override with_llvm = no
SHLIB_LINK = -lstdc++ -ldl

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
$(CORE_OBJS): override CXXFLAGS += -O3 -fvisibility=hidden -fvisibility-inlines-hidden

HEADERS := $(wildcard src/core/*.h src/core/*.inc src/pg/*.h src/pg/lsh/*.h src/gpu/*.h)
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
