/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the total of a run and writes it as metrics when the run has ended. */
#include "report/reporters.h"

#include <stdio.h>

#include "base/buf.h"
#include "report/openmetrics/listen.h"
#include "report/openmetrics/render.h"
#include "report/output.h"

struct openmetrics {
  struct bn_document document;
  const struct bn_facts *facts; /* of the run; threads may still add to them */
  struct bn_buf total;          /* the text of the total; empty if the run measured nothing */
};

static int openmetrics_open(void *self, const void *conf, const char *path, FILE *out,
                            struct bn_err *err)
{
  struct openmetrics *m = self;

  (void)conf;
  *m = (struct openmetrics){.facts = NULL};
  return bn_document_open(&m->document, "openmetrics", path, out, err);
}

static void openmetrics_begin(void *self, const struct bn_facts *f)
{
  struct openmetrics *m = self;

  m->facts = f;
}

/* Keeps the text of the total until openmetrics_finish() writes the file: the facts, which come
   first in it, may change until the run has ended. */
static int openmetrics_total(void *self, const struct bn_view *v, struct bn_err *err)
{
  struct openmetrics *m = self;

  (void)err;
  bn_buf_clear(&m->total);
  bn_openmetrics_add_view(&m->total, v);
  return 0;
}

/* Writes the file. */
static int openmetrics_finish(void *self, const struct bn_end *end, struct bn_err *err)
{
  struct openmetrics *m = self;
  struct bn_buf text = {.max = 0};
  int rc;

  if (m->facts == NULL)
    return 0;
  bn_openmetrics_add_facts(&text, m->facts);
  (void)bn_buf_add(&text, m->total.data, m->total.len);
  bn_openmetrics_add_end(&text, end);
  rc = bn_document_write(&m->document, text.data, text.len, err);
  bn_buf_done(&text);
  return rc;
}

static int openmetrics_close(void *self, struct bn_err *err)
{
  struct openmetrics *m = self;

  (void)err;
  bn_buf_done(&m->total);
  return 0;
}

const struct bn_reporter bn_reporter_openmetrics = {
    .name = "openmetrics",
    .options = bn_listen_options,
    .conf_size = sizeof(struct bn_listen_conf),
    .state_size = sizeof(struct openmetrics),
    .own_file = true,
    .for_programs = true,
    .facts = true,
    .open = openmetrics_open,
    .begin = openmetrics_begin,
    .total = openmetrics_total,
    .finish = openmetrics_finish,
    .close = openmetrics_close,
};
