# PGXS build of the extension, the program `neardup` and, where there are a GPU and nvcc, the GPU module.
#   make [PG_CONFIG=...] [CUDA=auto|yes|no]     make install     make uninstall     make installcheck
#   WITH_UCHARDET=auto|yes|no WITH_OPENCC=... WITH_RE2=...   optional libraries: found by pkg-config, insisted on, left out
#   WITH_SIMDJSON=... WITH_GMIME=... WITH_LIBXML2=... WITH_ZSTD=... WITH_LZMA=... WITH_BZIP2=...   the same, of the program
#   WITH_CLI=no                 without the program and its manual page
#   PG_CPPFLAGS= PG_CXXFLAGS= PG_LDFLAGS=   on top of the flags that PostgreSQL was built with
#   make -f FOLDER/Makefile     builds in the current folder, for several versions of PostgreSQL side by side
#   make dist                   neardup-VERSION.zip of the commit, as PGXN takes it

SRC := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))
# sources PATTERNS: files of the source folder, named from there, in one order everywhere
sources = $(patsubst $(SRC)/%,%,$(sort $(wildcard $(addprefix $(SRC)/,$(1)))))

# A recipe that fails leaves no file that looks made.
.DELETE_ON_ERROR:

EXTENSION = neardup
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(SRC)/neardup.control)
MODULE_big = neardup

CORE_OBJS := $(patsubst %.cpp,%.o,$(call sources,src/core/*/*.cpp src/core/*/*/*.cpp))
OFFLOAD_OBJS := $(patsubst %.cpp,%.o,$(call sources,src/offload/*.cpp))
PG_OBJS := $(patsubst %.cpp,%.o,$(call sources,src/pg/*.cpp src/pg/*/*.cpp src/pg/jobs/*/*.cpp src/pg/lsh/*/*.cpp src/pg/lsh/*/*/*.cpp))
TEXT_OBJS := $(patsubst %.cpp,%.o,$(call sources,src/text/*.cpp))
CLI_OBJS := $(patsubst %.cpp,%.o,$(call sources,src/cli/*.cpp src/cli/*/*.cpp))
OBJS = $(CORE_OBJS) $(TEXT_OBJS) $(OFFLOAD_OBJS) $(PG_OBJS)
# Precompiled headers, a set of flags each: src/pch
PCH := $(patsubst %,src/pch/%.h.gch,core pg cli)

# Not by their names alone, which may have spaces.
ifneq ($(SRC),.)
ifneq ($(realpath $(SRC)),$(realpath $(CURDIR)))
ifneq ($(call sources,src/core/*/*.o),)
$(error $(SRC) holds objects, which would be taken for those of this folder: make -C $(SRC) clean)
endif
# A server that was built in its own source folder has lost the line of PGXS that sets it.
VPATH := $(SRC)
# Here and not by a rule: make would find the folders of the sources instead.
$(shell mkdir -p $(sort $(dir $(OBJS) $(CLI_OBJS) $(PCH))))
endif
endif

NEXT_STEP := $(call sources,sql/upgrade/*.sql.in)
DATA_built = sql/neardup--$(EXTVERSION).sql $(patsubst sql/upgrade/%.in,sql/%,$(NEXT_STEP))
DATA = $(call sources,sql/upgrade/*.sql)
REGRESS = $(patsubst sql/%.sql,%,$(filter-out sql/neardup--%.sql,$(call sources,sql/*.sql)))
REGRESS_OPTS = --inputdir=$(SRC) --load-extension=neardup
WITH_CLI ?= yes
ifeq ($(filter yes no,$(WITH_CLI)),)
$(error WITH_CLI must be yes or no: $(WITH_CLI))
endif
ifeq ($(WITH_CLI),yes)
SCRIPTS_built = bin/neardup
endif
EXTRA_CLEAN = bin sql/neardup--*.sql $(CLI_OBJS) $(PCH) $(patsubst %.o,%.d,$(OBJS) $(CLI_OBJS)) $(PCH:.gch=.d) $(NOTES)

# Bitcode for JIT inlining is not built: our functions are too large to inline, and it would need clang.
override with_llvm = no
SHLIB_LINK = -lstdc++ -ldl

# What src/text and src/cli are built on, where it is installed: NAME, what pkg-config knows it as, Debian's package, and
# the variables that take its flags and libraries. libbz2 may have nothing for pkg-config.
PKG_CONFIG ?= pkg-config
TEXT_CPPFLAGS :=
CLI_CPPFLAGS :=
CLI_LIBS :=
hash := \#
define optional_library
WITH_$(1) ?= auto
ifeq ($$(filter auto yes no,$$(WITH_$(1))),)
$$(error WITH_$(1) must be auto, yes or no: $$(WITH_$(1)))
endif
ifneq ($$(WITH_$(1)),no)
ifeq ($$(shell $$(PKG_CONFIG) --exists $(2) 2>/dev/null && echo yes),yes)
$(4) += -DNEARDUP_WITH_$(1) $$(shell $$(PKG_CONFIG) --cflags $(2))
$(5) += $$(shell $$(PKG_CONFIG) --libs $(2))
else ifeq ($(1)$$(shell echo '$$(hash)include <bzlib.h>' | $$(CXX) -E -x c++ - >/dev/null 2>&1 && echo yes),BZIP2yes)
$(4) += -DNEARDUP_WITH_$(1)
$(5) += -lbz2
else ifeq ($$(WITH_$(1)),yes)
$$(error WITH_$(1)=yes, but $(2) was not found (Debian: $(3)))
endif
endif
endef
text_library = $(eval $(call optional_library,$(1),$(2),$(3),TEXT_CPPFLAGS,SHLIB_LINK))
cli_library = $(eval $(call optional_library,$(1),$(2),$(3),CLI_CPPFLAGS,CLI_LIBS))
$(call text_library,UCHARDET,uchardet,libuchardet-dev)
$(call text_library,OPENCC,opencc,libopencc-dev)
$(call text_library,RE2,re2,libre2-dev)
$(call cli_library,SIMDJSON,simdjson,libsimdjson-dev)
$(call cli_library,GMIME,gmime-3.0,libgmime-3.0-dev)
$(call cli_library,LIBXML2,libxml-2.0,libxml2-dev)
$(call cli_library,ZSTD,libzstd,libzstd-dev)
$(call cli_library,LZMA,liblzma,liblzma-dev)
$(call cli_library,BZIP2,bzip2,libbz2-dev)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
# Not every package of PostgreSQL has the program.
ifneq ($(wildcard $(dir $(PGXS))../test/isolation/pg_isolation_regress),)
ISOLATION = $(patsubst test/isolation/specs/%.spec,%,$(call sources,test/isolation/specs/*.spec))
ISOLATION_OPTS = --inputdir=$(SRC)/test/isolation --load-extension=neardup
endif
# Of the databases of the tests, whatever the server's own are.
ENCODING = UTF8
NO_LOCALE = 1
include $(PGXS)
override with_llvm = no

# Ubuntu builds PostgreSQL with link-time optimization: a source takes up to a third longer then, and the link compiles all of them again.
# Who wants it names it in PG_CXXFLAGS.
LTO = -flto% -ffat-lto-objects
override CXXFLAGS := $(filter-out $(LTO),$(CXXFLAGS)) $(filter $(LTO),$(PG_CXXFLAGS))

# PostgreSQL's own headers are not ours to warn about.
override CPPFLAGS := -I$(SRC)/src $(patsubst -I%,-isystem %,$(CPPFLAGS))
# -g1: lines for backtraces; all of the debugging information makes the build a third slower and the library five times as large.
# -ffp-contract=off: g++ would multiply and add in one step, without rounding between them, where the processor can (arm64), and results would
# differ from those of other processors.
override CXXFLAGS += -std=c++20 -Wextra -Wno-unused-parameter -g1 -ffp-contract=off
# ccache, where it is found: a source that was compiled once with the same flags is not compiled again. CCACHE= goes without.
CCACHE ?= $(shell command -v ccache)
# Without these it does not look at what is compiled with a precompiled header.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

# The flags of each class of objects, and of its precompiled header. What knows no PostgreSQL is ours alone: hidden, so that it cannot collide
# with another C++ extension in the same backend.
HIDDEN = -fvisibility=hidden -fvisibility-inlines-hidden
# With -O0 the core compiles in half of the time.
CORE_OPTIMIZATION ?= -O3
$(CORE_OBJS) $(TEXT_OBJS) $(OFFLOAD_OBJS) src/pch/core.h.gch: private override CXXFLAGS += $(CORE_OPTIMIZATION) $(HIDDEN)
$(TEXT_OBJS) $(TEXT_OBJS:.o=.syntax): private override CPPFLAGS += $(patsubst -I%,-isystem %,$(TEXT_CPPFLAGS))
# The program is a client: of PostgreSQL's flags it takes all but the paths of the server's headers.
$(CLI_OBJS) $(CLI_OBJS:.o=.syntax) src/pch/cli.h.gch: private override CPPFLAGS := $(filter -D% -U% -W%,$(CPPFLAGS)) -I$(SRC)/src \
  -I$(shell $(PG_CONFIG) --includedir) $(patsubst -I%,-isystem %,$(CLI_CPPFLAGS))
# g++ 12 takes its own std::string, which is no system header to it once precompiled, for an overflow.
$(CLI_OBJS): private override CXXFLAGS += -Wno-array-bounds -Wno-stringop-overflow
src/pg/functions/fn_version.o src/cli/main.o src/pg/functions/fn_version.syntax src/cli/main.syntax: private override CPPFLAGS += -DNEARDUP_VERSION='"$(EXTVERSION)"'
src/pg/functions/fn_version.o src/cli/main.o: neardup.control

# Precompiled headers; WITH_PCH=no compiles without.
WITH_PCH ?= yes
ifeq ($(WITH_PCH),yes)
precompiled = -include src/pch/$(1).h -Winvalid-pch -fpch-preprocess
$(CORE_OBJS) $(OFFLOAD_OBJS): PRECOMPILED = $(call precompiled,core)
$(CORE_OBJS) $(OFFLOAD_OBJS): src/pch/core.h.gch
$(PG_OBJS): PRECOMPILED = $(call precompiled,pg)
$(PG_OBJS): src/pch/pg.h.gch
$(CLI_OBJS): PRECOMPILED = $(call precompiled,cli)
$(CLI_OBJS): src/pch/cli.h.gch
endif

# -MMD: each object notes the headers of ours that it was made of.
COMPILE = $(CCACHE) $(CXX) $(CXXFLAGS) $(CPPFLAGS) -MMD -MP
$(OBJS) $(CLI_OBJS): %.o: $(SRC)/%.cpp
	$(COMPILE) $(PRECOMPILED) -c $< -o $@
$(PCH): %.gch: $(SRC)/%
	$(COMPILE) -MF $*.d -x c++-header $< -o $@
-include $(patsubst %.o,%.d,$(OBJS) $(CLI_OBJS)) $(PCH:.gch=.d)

# make syntax: reads each source alone, without precompiled headers, and makes nothing. What then fails lacks an include.
SYNTAX := $(patsubst %.o,%.syntax,$(OBJS) $(CLI_OBJS))
syntax: $(SYNTAX)
$(SYNTAX): %.syntax: $(SRC)/%.cpp
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -fsyntax-only $<
.PHONY: syntax $(SYNTAX)

# Notes of what objects were made with besides their sources; written anew only when that has changed, and then the objects are made
# again. Of another compiler or other flags: all. When a library has come or gone: src/text or src/cli. For another server: src/pg and the
# program, since objects of the one before would be linked and installed; core and text know no server.
quoted = '$(subst ','\'',$(1))'
NOTES := src/.compiler src/text/.libraries src/cli/.libraries src/pg/.server
src/.compiler: NOTE = $(shell $(CXX) --version | head -n 1) $(CXXFLAGS) $(CORE_OPTIMIZATION) $(filter-out -isystem $(includedir_server),$(CPPFLAGS))
src/text/.libraries: NOTE = $(TEXT_CPPFLAGS)
src/cli/.libraries: NOTE = $(CLI_CPPFLAGS)
src/pg/.server: NOTE = $(VERSION) $(includedir_server)
$(NOTES): FORCE
	@echo $(call quoted,$(NOTE)) | cmp -s - $@ || echo $(call quoted,$(NOTE)) > $@
$(OBJS) $(CLI_OBJS) $(PCH): src/.compiler $(firstword $(MAKEFILE_LIST))
$(TEXT_OBJS): src/text/.libraries
$(CLI_OBJS) src/pch/cli.h.gch: src/cli/.libraries
$(PG_OBJS) src/pch/pg.h.gch $(CLI_OBJS) src/pch/cli.h.gch: src/pg/.server
FORCE:
.PHONY: FORCE

INSTALL_SQL := $(call sources,sql/install/*.sql)
sql/neardup--$(EXTVERSION).sql: $(INSTALL_SQL) neardup.control
	@mkdir -p sql
	cat $(addprefix $(SRC)/,$(INSTALL_SQL)) > $@

# A step that is not released yet includes whole files of sql/install.
sql/%.sql: $(SRC)/sql/upgrade/%.sql.in $(INSTALL_SQL)
	@mkdir -p sql
	awk -v folder=$(SRC)/sql -f $(SRC)/tools/include.awk $< > $@

# Of core the program has what includes nothing else of it.
bin/neardup: $(CLI_OBJS) $(filter src/core/diff/%,$(CORE_OBJS))
	@mkdir -p bin
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDFLAGS) -L$(shell $(PG_CONFIG) --libdir) -lpq -lz $(CLI_LIBS)

ifeq ($(WITH_CLI),yes)
all: bin/neardup
install: install-man
install-man:
	$(MKDIR_P) '$(DESTDIR)$(mandir)/man1'
	$(INSTALL_DATA) $(SRC)/docs/neardup.1 '$(DESTDIR)$(mandir)/man1/'
# PGXS would look for bin/neardup in there.
uninstall: uninstall-cli
uninstall-cli:
	rm -f '$(DESTDIR)$(bindir)/neardup' '$(DESTDIR)$(mandir)/man1/neardup.1'
endif
.PHONY: install-man uninstall-cli

dist:
	cd $(SRC) && git archive --format=zip --prefix=neardup-$(EXTVERSION)/ -o neardup-$(EXTVERSION).zip HEAD
.PHONY: dist

include $(SRC)/src/gpu/gpu.mk
