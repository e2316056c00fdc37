/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of pictures. */
#include "study/plot/chart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bn_chart_series *bn_chart_series(struct bn_chart_panel *p, const char *name,
                                        enum bn_chart_look look, unsigned colour)
{
  struct bn_chart_series *more = reallocarray(p->series, p->n + 1, sizeof *more);
  char *copy = strdup(name);

  if (more != NULL)
    p->series = more;
  if (more == NULL || copy == NULL) {
    free(copy);
    return NULL;
  }
  more[p->n] = (struct bn_chart_series){.name = copy, .look = look, .colour = colour};
  return &more[p->n++];
}

int bn_chart_point(struct bn_chart_series *s, const struct bn_chart_point *point)
{
  if (s->n == s->room) {
    const size_t room = s->room == 0 ? 64 : 2 * s->room;
    struct bn_chart_point *more = reallocarray(s->point, room, sizeof *more);

    if (more == NULL)
      return -1;
    s->point = more;
    s->room = room;
  }
  s->point[s->n++] = *point;
  return 0;
}

int bn_chart_mark(struct bn_chart *c, double at, const char *text)
{
  struct bn_chart_mark *more = reallocarray(c->mark, c->n_marks + 1, sizeof *more);

  if (more == NULL)
    return -1;
  c->mark = more;
  more[c->n_marks].at = at;
  (void)snprintf(more[c->n_marks].text, sizeof more->text, "%s", text);
  c->n_marks++;
  return 0;
}

struct bn_chart_panel *bn_chart_panel(struct bn_chart *c, const char *title, enum bn_chart_y y)
{
  struct bn_chart_panel *p = &c->panel[c->n_panels++];

  (void)snprintf(p->title, sizeof p->title, "%s", title);
  p->y = y;
  return p;
}

void bn_chart_done(struct bn_chart *c)
{
  for (size_t i = 0; i < c->n_panels; i++) {
    struct bn_chart_panel *p = &c->panel[i];

    for (size_t k = 0; k < p->n; k++) {
      free(p->series[k].name);
      free(p->series[k].point);
    }
    free(p->series);
  }
  free(c->mark);
  *c = (struct bn_chart){.n_panels = 0};
}
