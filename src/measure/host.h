/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the machine that a result was measured on. */
#ifndef BN_MEASURE_HOST_H
#define BN_MEASURE_HOST_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum { BN_HOST_TEXT = 128 };

/* A text that is not known is "", a number that is not known is 0. */
struct bn_host {
  char name[BN_HOST_TEXT];      /* of the host in its network */
  char cpu_model[BN_HOST_TEXT]; /* "AMD EPYC 7763 64-Core Processor" */
  unsigned processors_online;   /* of the machine */
  unsigned processors_allowed;  /* to this process, by its affinity */
  double processors_quota;      /* of the control groups, in processors; 0: unlimited */
  uint64_t memory_bytes;        /* of the machine */
  uint64_t memory_limit_bytes;  /* of the control groups; 0: unlimited */
  char kernel[BN_HOST_TEXT];    /* "Linux 6.1.0-28-amd64" */
  char machine[32];             /* "x86_64" */
  char distribution[BN_HOST_TEXT];
  char hypervisor[32]; /* "kvm"; "unknown": there is one; "none" */
  char container[32];  /* "docker"; "none": no sign of one */
  char governor[32];   /* of the first processor's frequency */
  char clocksource[32];
};

/* The folder and the device of files that a test makes. */
struct bn_place {
  char path[PATH_MAX];        /* the folder, without links */
  char file_system[64];       /* "ext4" */
  char device[256];           /* "/dev/sda1" */
  char mount_point[PATH_MAX]; /* "/home" */
};

/* These functions read a few small files below `root`, which is "" or in tests a folder with
   made-up files.  They start no process and never fail: what cannot be read stays unknown. */
void bn_host_read(struct bn_host *h, const char *root);
/* Returns for how long the CPU quota of a control group of this process has held back its threads
   since the group was made, in seconds of all processors together, or -1 if there is no such group.
   If groups are nested, the one that was held back longest counts. */
double bn_host_throttled_s(const char *root);
/* Returns how much bn_host_throttled_s() has grown since it was `before_s`, or -1 if either value
   is not known, or the present one is less because another group counts now. */
double bn_host_throttled_since_s(const char *root, double before_s);
/* Returns the processor time that all threads of this process have used, in seconds. */
double bn_host_processor_s(void);
/* Reads where a file or folder is.  The mount table is read below root, but the path is taken as it
   is. */
void bn_place_read(struct bn_place *p, const char *root, const char *path);

#endif
