/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of several workloads: the scripts, and the functions by which module sysbench.mix makes an
   environment for each and goes from one to another. */
#ifndef BN_SCRIPT_VM_MIX_H
#define BN_SCRIPT_VM_MIX_H

#include <stddef.h>

#include <lua.h>

#include "base/err.h"
#include "base/rng.h"
#include "script/vm/script_file.h"

struct bn_chunk;
struct bn_vm;

struct bn_mix_part {
  char *name; /* as typed, without its weight */
  double weight;
  struct bn_script_place place;
  const struct bn_chunk *chunk; /* in bn_vm.chunks */
};

/* Constant once bn_vm_compile has returned. */
struct bn_mix {
  size_t n;
  double total_weight;
  struct bn_mix_part *part;
};

/* If setup's name is that of several workloads, makes vm->mix of them and finds their files.
   Returns 0, also for one script, or -1 and err. */
int bn_mix_find(struct bn_vm *vm, struct bn_err *err);
void bn_mix_free(struct bn_mix *mix); /* NULL: none */
/* Draws a workload in proportion to the weights; returns its number, from 1 on. */
unsigned bn_mix_choose(const struct bn_mix *mix, struct bn_rng *rng);

/* Functions of the table `internal`; numbers of workloads are from 1 on. */
/* workloads(): returns a list of {name =, bundled =}. */
int bn_mix_list(lua_State *L);
/* make_workload(number): returns an environment, its sysbench table, the preset thread_run and the
   function that is the script. */
int bn_mix_make_workload(lua_State *L);
/* enter(number, environment, sysbench): makes the code that runs from now on that of a workload, or
   of the mix itself (number 0). */
int bn_mix_enter(lua_State *L);

#endif
