/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes charts as commands of gnuplot. */
#include "study/plot/plotscript.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "study/plot/axis.h"

enum {
  LEGEND_MAX = 32, /* characters of a name */
  DOTS_MAX = 60,   /* points of a line that are marked */
  CROWD = 600,     /* points of a line, beyond which it is thinner */
  TEXT_LEFT = 9,   /* columns before the plot */
  TEXT_PANEL = 13, /* rows of each, with its heading and the row of marks */
  WIDTH = 1280,    /* of the picture; a bitmap has half as many again */
  HEIGHT = 720
};

/* A point that another one covers.  Not 0, which makes a picture that not all programs show. */
#define HIDDEN "0.2"

struct writer {
  struct bn_buf *out;
  const struct bn_chart *chart;
  const struct bn_canvas *canvas;
  struct bn_axis x;
  double top; /* of the panel, as a part of the picture */
};

static bool is_text(const struct writer *w)
{
  return w->canvas->form == BN_PLOT_TEXT;
}

/* --- texts ------------------------------------------------------------------------------------ */

static bool is_first_byte(char c)
{
  return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t characters(const char *text)
{
  size_t n = 0;

  for (; *text != '\0'; text++)
    n += is_first_byte(*text);
  return n;
}

/* Where the n-th character begins. */
static const char *character(const char *text, size_t n)
{
  for (; *text != '\0'; text++)
    if (is_first_byte(*text) && n-- == 0)
      break;
  return text;
}

/* An apostrophe becomes the typographic one: gnuplot does not read a doubled one at the start. */
static void put_part(struct bn_buf *out, const char *from, const char *to)
{
  for (; from < to; from++)
    (void)bn_buf_str(out, *from == '\'' ? "\u2019" : (const char[]){*from, '\0'});
}

/* In single quotes, with nothing that gnuplot or a terminal acts on.  A text of more than `max`
   characters loses its middle, because names of files often differ at their ends. */
static void put_text(struct bn_buf *out, const char *text, size_t max)
{
  char shown[2048];
  const char *end;
  size_t n, head;

  (void)bn_escape(shown, sizeof shown, text, "");
  end = shown + strlen(shown);
  n = characters(shown);
  head = n <= max ? n : (max - 3) / 2;
  (void)bn_buf_char(out, '\'');
  put_part(out, shown, character(shown, head));
  if (n > max) {
    (void)bn_buf_str(out, "...");
    put_part(out, character(shown, n - (max - 3 - head)), end);
  }
  (void)bn_buf_char(out, '\'');
}

/* A mark is a format, in which a percent sign is doubled. */
static void put_marks(struct writer *w, char axis, const struct bn_axis *a)
{
  char text[2 * sizeof a->mark->text];

  (void)bn_buf_printf(w->out, "set %ctics (", axis);
  for (size_t i = 0; i < a->n_marks; i++) {
    size_t n = 0;

    for (const char *c = a->mark[i].text; *c != '\0'; c++) {
      if (*c == '%')
        text[n++] = '%';
      text[n++] = *c;
    }
    text[n] = '\0';
    (void)bn_buf_str(w->out, i > 0 ? ", " : "");
    put_text(w->out, text, LEGEND_MAX);
    (void)bn_buf_printf(w->out, " %.9g", a->mark[i].at);
  }
  (void)bn_buf_str(w->out, ")\n");
}

/* --- the whole -------------------------------------------------------------------------------- */

/* The names of both, which are those of the first series, are the same. */
static bool same_names(const struct bn_chart_panel *a, const struct bn_chart_panel *b)
{
  for (size_t i = 0; i < a->n || i < b->n; i++)
    if (strcmp(i < a->n ? a->series[i].name : "", i < b->n ? b->series[i].name : "") != 0)
      return false;
  return true;
}

/* The legend of the panel above serves this one too. */
static bool has_legend(const struct bn_chart *c, size_t panel)
{
  const struct bn_chart_panel *p = &c->panel[panel];
  bool any = false;

  for (size_t i = 0; i < p->n; i++)
    any = any || p->series[i].name[0] != '\0';
  return any && (panel == 0 || !same_names(p, p - 1));
}

/* Characters of the longest name that is shown. */
static size_t legend_width(const struct bn_chart *c)
{
  size_t most = 0;

  for (size_t i = 0; i < c->n_panels; i++)
    for (size_t k = 0; has_legend(c, i) && k < c->panel[i].n; k++) {
      const size_t n = bn_escape(NULL, 0, c->panel[i].series[k].name, "");

      if (n > most)
        most = n;
    }
  return most < LEGEND_MAX ? most : LEGEND_MAX;
}

unsigned bn_plotscript_rows(const struct bn_chart *c)
{
  return 4 + TEXT_PANEL * (unsigned)c->n_panels + (c->n_panels == 1 ? TEXT_PANEL / 2 : 0);
}

static void put_terminal(struct writer *w)
{
  switch (w->canvas->form) {
  case BN_PLOT_TEXT:
    (void)bn_buf_printf(w->out, "set terminal dumb mono noenhanced size %u,%u\n",
                        w->canvas->columns, w->canvas->rows);
    break;
  case BN_PLOT_SVG:
    (void)bn_buf_printf(w->out,
                        "set terminal svg noenhanced name 'bench' size %d,%d font 'sans-serif,17' "
                        "background rgb 'white'\n",
                        WIDTH, HEIGHT);
    break;
  case BN_PLOT_PNG:
    (void)bn_buf_printf(w->out,
                        "set terminal pngcairo noenhanced size %d,%d font 'sans-serif,13' "
                        "fontscale 1.5 linewidth 1.5 pointscale 1.5\n",
                        WIDTH * 3 / 2, HEIGHT * 3 / 2);
    break;
  }
}

static void put_style(struct writer *w)
{
  if (is_text(w)) {
    (void)bn_buf_str(w->out, "set border 3\nset tics nomirror\nset bars 0\n");
    return;
  }
  (void)bn_buf_str(w->out, "set border 1 lc rgb '#666666' lw 1\n"
                           "set tics nomirror textcolor rgb '#444444'\n"
                           "set xtics out scale 0.6\nset ytics scale 0\n"
                           "set grid ytics lt 1 lc rgb '#dddddd' lw 1 back\n"
                           "set bars 0.6\nset pointintervalbox " HIDDEN "\n");
}

/* size: pixels of the SVG; the other one counts in points. */
static void put_font(struct writer *w, const char *face, int size)
{
  (void)bn_buf_printf(w->out, " font 'sans-serif%s,%.1f'", face,
                      w->canvas->form == BN_PLOT_PNG ? size * 0.75 : (double)size);
}

/* A line above the panels, which belongs to none of them. */
static void put_heading(struct writer *w, int number, const char *text)
{
  const bool first = number == 1;

  (void)bn_buf_printf(w->out, "set label %d ", number);
  put_text(w->out, text, is_text(w) ? w->canvas->columns : first ? 80 : 150);
  if (is_text(w)) {
    (void)bn_buf_printf(w->out, " at character 0, character %u\n",
                        w->canvas->rows - (unsigned)number);
    return;
  }
  (void)bn_buf_printf(w->out, " at screen 0.02, screen %s textcolor rgb '%s'",
                      first ? "0.945" : "0.895", first ? "#222222" : "#666666");
  /* gnuplot's SVG has a bold face with its markup only, which texts of others could be read as. */
  put_font(w, first && w->canvas->form == BN_PLOT_PNG ? ":Bold" : "", first ? 26 : 15);
  (void)bn_buf_char(w->out, '\n');
}

static void put_x(struct writer *w)
{
  const struct bn_axis *a = &w->x;

  (void)bn_buf_printf(w->out, "set xrange [%.9g:%.9g]\n", a->low, a->high);
  if (a->log)
    (void)bn_buf_str(w->out, "set logscale x\n");
  if (a->n_marks > 0)
    put_marks(w, 'x', a);
}

static void put_left_right(struct writer *w)
{
  const double legend = (double)legend_width(w->chart), columns = w->canvas->columns;
  double left = 0.085, right = legend > 0 ? 1 - 0.055 - 0.0085 * legend : 0.97;

  if (is_text(w)) {
    left = TEXT_LEFT / columns;
    right = 1 - (legend > 0 ? legend + 6 : 2) / columns;
  }
  (void)bn_buf_printf(w->out, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", left,
                      right);
}

/* --- panels ----------------------------------------------------------------------------------- */

static bool has_bars(const struct bn_chart_series *s)
{
  return s->look == BN_CHART_BARS || s->look == BN_CHART_SPOTS;
}

/* Bars of several series stand beside each other, so that none covers another. */
static double beside(const struct writer *w, const struct bn_chart_panel *p, size_t series,
                     double x)
{
  const struct bn_axis *a = &w->x;
  double n = 0, all, part;

  for (size_t i = 0; i < p->n; i++)
    n += has_bars(&p->series[i]);
  if (is_text(w) || !has_bars(&p->series[series]))
    return x;
  all = n > 3 ? 0.015 : 0.005 * n;
  part = all * (((double)series + 0.5) / n - 0.5);
  return a->log ? x * pow(a->high / a->low, part) : x + part * (a->high - a->low);
}

static void put_data(struct writer *w, size_t panel, const struct bn_axis *y)
{
  const struct bn_chart_panel *p = &w->chart->panel[panel];

  for (size_t i = 0; i < p->n; i++) {
    (void)bn_buf_printf(w->out, "$data%zu_%zu << end\n", panel, i);
    for (size_t k = 0; k < p->series[i].n; k++) {
      const struct bn_chart_point *at = &p->series[i].point[k];
      const double x = beside(w, p, i, at->x / w->x.unit);

      if (!isfinite(at->y) || (y->log && at->y <= 0))
        (void)bn_buf_printf(w->out, "%.9g NaN NaN NaN\n", x);
      else
        (void)bn_buf_printf(w->out, "%.9g %.9g %.9g %.9g\n", x, at->y, at->low, at->high);
    }
    (void)bn_buf_str(w->out, "end\n");
  }
}

/* From the top. */
static void put_place(struct writer *w, size_t panel)
{
  const double n = (double)w->chart->n_panels, k = (double)panel;
  double height, step;

  if (is_text(w)) {
    const double rows = w->canvas->rows;

    step = (rows - 4) / n / rows;
    w->top = 1 - 4.5 / rows - k * step;
    height = step - 2.5 / rows;
  } else {
    step = 0.815 / n;
    w->top = 0.80 - k * step;
    height = step - 0.125;
  }
  (void)bn_buf_printf(w->out, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n", w->top,
                      w->top - height);
}

static void put_y(struct writer *w, const struct bn_chart_panel *p, const struct bn_axis *a)
{
  (void)bn_buf_printf(w->out, a->log ? "set logscale y\n" : "unset logscale y\n");
  (void)bn_buf_printf(w->out, "set yrange [%.9g:%.9g]\n", a->low, a->high);
  put_marks(w, 'y', a);
  (void)bn_buf_str(w->out, "set label 3 ");
  put_text(w->out, p->title, 90);
  if (is_text(w))
    (void)bn_buf_str(w->out, " at graph 0, graph 1 offset 0,1\n");
  else
    (void)bn_buf_printf(w->out, " at screen 0.02, screen %.4f textcolor rgb '#222222'\n",
                        w->top + 0.04);
}

/* The marks are the last panel's, as is the heading of the x axis. */
static void put_x_of(struct writer *w, size_t panel)
{
  const struct bn_chart *c = w->chart;
  char title[sizeof c->x_title + 8];

  if (panel + 1 < c->n_panels) {
    (void)bn_buf_str(w->out, w->x.n_marks > 0 ? "" : "set format x ''\n");
    return;
  }
  (void)snprintf(title, sizeof title, c->x == BN_CHART_TIME ? "%s (%s)" : "%s", c->x_title,
                 w->x.suffix);
  (void)bn_buf_str(w->out, w->x.n_marks > 0 ? "set xlabel " : "set format x '%g'\nset xlabel ");
  put_text(w->out, title, 90);
  (void)bn_buf_str(w->out, is_text(w) ? "\n" : " offset 0,0.3 textcolor rgb '#222222'\n");
}

/* Blue, vermillion, bluish green, orange, reddish purple, sky blue, black. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#E69F00",
                                      "#CC79A7", "#56B4E9", "#000000"};
enum { COLOURS = sizeof colours / sizeof colours[0] };

/* size: of the points. */
static void put_look(struct writer *w, const struct bn_chart_series *s, const char *size)
{
  const unsigned colour = s->colour % COLOURS, dash = 1 + s->colour / COLOURS;

  if (is_text(w))
    (void)bn_buf_printf(w->out, " lt %u", s->colour + 1);
  else
    (void)bn_buf_printf(w->out, " lc rgb '%s' lw %s dt %u pt 7 ps %s", colours[colour],
                        s->look == BN_CHART_LINE && s->n > CROWD ? "1" : "2", dash, size);
}

/* In plain text the name would touch its sample. */
static void put_name(struct writer *w, const char *name)
{
  char apart[1024];

  (void)snprintf(apart, sizeof apart, is_text(w) ? " %s" : "%s", name);
  (void)bn_buf_str(w->out, " title ");
  put_text(w->out, apart, LEGEND_MAX + is_text(w));
}

static const char *look_of(const struct writer *w, const struct bn_chart_series *s)
{
  if (s->look == BN_CHART_STEPS)
    return "steps";
  if (s->look == BN_CHART_SPOTS)
    return "points";
  if (s->look == BN_CHART_FIT)
    return is_text(w) ? "dots" : "lines";
  return s->n == 1 || (s->n <= DOTS_MAX && !is_text(w)) ? "linespoints" : "lines";
}

static void put_series(struct writer *w, size_t panel, size_t i, bool legend)
{
  const struct bn_chart_series *s = &w->chart->panel[panel].series[i];

  if (has_bars(s)) {
    (void)bn_buf_printf(w->out, "$data%zu_%zu using 1:2:3:4 with yerrorbars", panel, i);
    put_look(w, s, HIDDEN);
    (void)bn_buf_str(w->out, " notitle, ");
  }
  (void)bn_buf_printf(w->out, "$data%zu_%zu using 1:2 with %s", panel, i, look_of(w, s));
  put_look(w, s, s->look == BN_CHART_SPOTS ? "0.8" : "0.6");
  if (legend && s->name[0] != '\0')
    put_name(w, s->name);
  else
    (void)bn_buf_str(w->out, " notitle");
}

static void put_panel(struct writer *w, size_t panel)
{
  const struct bn_chart_panel *p = &w->chart->panel[panel];
  const bool legend = has_legend(w->chart, panel);
  bool first = true;
  struct bn_axis y;

  bn_axis_y(&y, p, is_text(w));
  put_data(w, panel, &y);
  put_place(w, panel);
  put_y(w, p, &y);
  put_x_of(w, panel);
  if (legend)
    (void)bn_buf_printf(w->out,
                        "set key at graph 1, graph 1 left top Left reverse noenhanced "
                        "samplen %s\n",
                        is_text(w) ? "2" : "1.5 spacing 1.25 textcolor rgb '#222222'");
  else
    (void)bn_buf_str(w->out, "unset key\n");
  (void)bn_buf_str(w->out, "plot ");
  /* Fits are behind what they were fitted to. */
  for (int fits = 1; fits >= 0; fits--)
    for (size_t i = 0; i < p->n; i++)
      if ((p->series[i].look == BN_CHART_FIT) == fits) {
        (void)bn_buf_str(w->out, first ? "" : ", ");
        put_series(w, panel, i, legend);
        first = false;
      }
  (void)bn_buf_str(w->out, "\nunset label\n");
}

int bn_plotscript(struct bn_buf *out, const struct bn_chart *c, const struct bn_canvas *canvas)
{
  struct writer w = {.out = out, .chart = c, .canvas = canvas};

  bn_axis_x(&w.x, c, canvas->form == BN_PLOT_TEXT ? canvas->columns / 10 : BN_AXIS_MARKS);
  (void)bn_buf_str(out, "set encoding utf8\n");
  put_terminal(&w);
  put_style(&w);
  (void)bn_buf_str(out, "set multiplot\n");
  put_left_right(&w);
  put_x(&w);
  put_heading(&w, 1, c->title);
  put_heading(&w, 2, c->note);
  for (size_t i = 0; i < c->n_panels; i++)
    put_panel(&w, i);
  (void)bn_buf_str(out, "unset multiplot\n");
  return out->failed ? -1 : 0;
}
