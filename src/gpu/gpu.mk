# Builds, installs and removes neardup_gpu.so; included by the Makefile, before or after PGXS.
#   CUDA=auto  the module is built where a working nvcc is found (PATH, then /usr/local/cuda/bin), else left out
#   CUDA=yes   the module must be built          CUDA=no  it is not, and nvcc is not looked for
#   NVCC=...   the compiler to use               NVCCFLAGS=...  more options for it

CUDA ?= auto
GPU_SRC := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
GPU_MODULE := neardup_gpu.so
GPU_DEPS := $(wildcard $(GPU_SRC)/*.cu $(GPU_SRC)/*.h $(GPU_SRC)/*.map $(GPU_SRC)/../core/*.h) $(GPU_SRC)/gpu.mk

ifeq ($(filter auto yes no,$(CUDA)),)
$(error CUDA must be auto, yes or no: $(CUDA))
endif

ifneq ($(CUDA),no)
ifeq ($(NVCC),)
NVCC := $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
endif
ifeq ($(NVCC)$(CUDA),yes)
$(error CUDA=yes, but no nvcc in PATH nor in /usr/local/cuda/bin; name one with NVCC=)
endif
endif

ifneq ($(and $(NVCC),$(filter-out no,$(CUDA))),)

all: $(GPU_MODULE)

# Code for each of these that nvcc knows, and PTX of the newest for GPUs to come. Asked only when the module is built.
GPU_WANTED = 75 80 86 89 90
GPU_KNOWN = $(patsubst sm_%,%,$(shell $(NVCC) --list-gpu-code))
GPU_ARCHS = $(filter $(GPU_KNOWN),$(GPU_WANTED))
GPU_GENCODE = $(foreach a,$(GPU_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
  -gencode arch=compute_$(lastword $(GPU_ARCHS)),code=compute_$(lastword $(GPU_ARCHS))
# nvcc 11 ends at C++17, to which src/gpu and the core headers that it includes keep.
GPU_STD = $(if $(shell $(NVCC) --help | grep -w c++20),c++20,c++17)

$(GPU_MODULE): $(GPU_DEPS)
	@if [ '$(CUDA)' = auto ] && \
	  ! printf '__global__ void probe() {}\n' | $(NVCC) $(NVCCFLAGS) -x cu -c -o /dev/null - ; then \
	  echo 'warning: $(NVCC) does not work here: $(GPU_MODULE) is left out (CUDA=no: do not try, CUDA=yes: fail)' >&2; \
	else \
	  set -ex; $(NVCC) -std=$(GPU_STD) -O3 -shared -cudart static -I$(GPU_SRC)/.. $(GPU_GENCODE) \
	    -Xcompiler -fPIC,-Wall,-Wextra -Xlinker --version-script=$(GPU_SRC)/neardup_gpu.map,-z,now $(NVCCFLAGS) \
	    $(wildcard $(GPU_SRC)/*.cu) -o $@; \
	fi

install: install-gpu
install-gpu: $(GPU_MODULE)
	@if [ -f $(GPU_MODULE) ]; then set -ex; \
	  $(MKDIR_P) '$(DESTDIR)$(pkglibdir)'; $(INSTALL_SHLIB) $(GPU_MODULE) '$(DESTDIR)$(pkglibdir)/'; \
	fi
.PHONY: install-gpu

endif

uninstall: uninstall-gpu
uninstall-gpu:
	rm -f '$(DESTDIR)$(pkglibdir)/$(GPU_MODULE)'

clean: clean-gpu
clean-gpu:
	rm -f $(GPU_MODULE)

.PHONY: uninstall-gpu clean-gpu
