# Builds, installs and removes neardup_gpu.so; included by the Makefile, before or after PGXS.
#   CUDA=auto      the module is built where this machine has a GPU and an nvcc that works (PATH, then /usr/local/cuda/bin)
#   CUDA=yes       the module must be built, GPU or not       CUDA=no  it is not, and nvcc is not looked for
#   GPU_ARCHS=...  compute capabilities, such as "80 90"; native: those of this machine's GPUs; default: all that we know of
#   NVCC=...       the compiler to use                        NVCCFLAGS=...  more options for it

CUDA ?= auto
GPU_SRC := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
GPU_MODULE := neardup_gpu.so
GPU_OBJS := $(patsubst $(GPU_SRC)/%.cu,src/gpu/%.o,$(sort $(wildcard $(GPU_SRC)/*.cu $(GPU_SRC)/*/*.cu)))
# Where the driver shows the GPUs; the last one under Windows.
GPU_DEVICES := $(wildcard /dev/nvidia[0-9]* /dev/dxg)

ifeq ($(filter auto yes no,$(CUDA)),)
$(error CUDA must be auto, yes or no: $(CUDA))
endif

ifeq ($(CUDA)$(GPU_DEVICES),auto)
override CUDA := no
endif

ifneq ($(CUDA),no)
ifeq ($(NVCC),)
NVCC := $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
endif
ifeq ($(NVCC)$(CUDA),yes)
$(error CUDA=yes, but no nvcc in PATH nor in /usr/local/cuda/bin; name one with NVCC=)
endif
endif

# An nvcc that does not work is no reason to fail.
ifeq ($(CUDA),auto)
ifneq ($(NVCC),)
ifeq ($(wildcard $(GPU_MODULE)),)
ifneq ($(shell printf '__global__ void probe() {}\n' | $(NVCC) $(NVCCFLAGS) -x cu -c -o /dev/null - && echo works),works)
$(warning $(NVCC) does not work here: $(GPU_MODULE) is left out (CUDA=no: do not try, CUDA=yes: fail))
override CUDA := no
endif
endif
endif
endif

ifneq ($(and $(NVCC),$(filter-out no,$(CUDA))),)

all: $(GPU_MODULE)

# Code for each of these that nvcc knows, and PTX of the newest for GPUs to come. Asked only when the module is built.
GPU_WANTED = 75 80 86 89 90
GPU_KNOWN = $(patsubst sm_%,%,$(shell $(NVCC) --list-gpu-code))
GPU_ARCHS ?= $(filter $(GPU_KNOWN),$(GPU_WANTED))
ifeq ($(GPU_ARCHS),native)
GPU_GENCODE = -arch=native
else
GPU_GENCODE = $(foreach a,$(GPU_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
  -gencode arch=compute_$(lastword $(GPU_ARCHS)),code=compute_$(lastword $(GPU_ARCHS))
endif
# nvcc 11 ends at C++17, to which src/gpu and the core headers that it includes keep.
GPU_STD = $(if $(shell $(NVCC) --help | grep -w c++20),c++20,c++17)

$(GPU_OBJS): src/gpu/%.o: $(GPU_SRC)/%.cu $(GPU_SRC)/gpu.mk
	@mkdir -p $(@D)
	$(NVCC) -std=$(GPU_STD) -O3 -I$(GPU_SRC)/.. $(GPU_GENCODE) -Xcompiler -fPIC,-Wall,-Wextra $(NVCCFLAGS) \
	  -MMD -MP -MF $(@:.o=.d) -c $< -o $@
-include $(GPU_OBJS:.o=.d)

$(GPU_MODULE): $(GPU_OBJS) $(wildcard $(GPU_SRC)/*.map)
	$(NVCC) -shared -cudart static -Xlinker --version-script=$(GPU_SRC)/neardup_gpu.map,-z,now $(NVCCFLAGS) $(GPU_OBJS) -o $@

install: install-gpu
install-gpu: $(GPU_MODULE)
	$(MKDIR_P) '$(DESTDIR)$(pkglibdir)'
	$(INSTALL_SHLIB) $(GPU_MODULE) '$(DESTDIR)$(pkglibdir)/'
.PHONY: install-gpu

endif

uninstall: uninstall-gpu
uninstall-gpu:
	rm -f '$(DESTDIR)$(pkglibdir)/$(GPU_MODULE)'

clean: clean-gpu
clean-gpu:
	rm -f $(GPU_MODULE) $(GPU_OBJS) $(GPU_OBJS:.o=.d)

.PHONY: uninstall-gpu clean-gpu
