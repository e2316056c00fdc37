# Prints what the program and each module are made of: lines "bench object" and "module.la object".
# Read by objects.sh, in the folder of a build.
include Makefile

canonical = $(subst -,_,$(subst /,_,$(subst .,_,$(1))))_OBJECTS

.PHONY: print-objects
print-objects:
	$(foreach object,$(bin_bench_OBJECTS) $(foreach archive,$(noinst_LIBRARIES),\
	  $($(call canonical,$(archive)))),$(info bench $(object)))
	$(foreach module,$(LTLIBRARIES),$(foreach object,$($(call canonical,$(module))),\
	  $(info $(module) $(object))))
	@:
