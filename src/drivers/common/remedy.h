/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remedies for failures that look the same to every driver. */
#ifndef BN_DRIVERS_COMMON_REMEDY_H
#define BN_DRIVERS_COMMON_REMEDY_H

/* The remedy if connect() has failed with EADDRNOTAVAIL. */
static const char bn_remedy_ports[] =
    "all local ports of net.ipv4.ip_local_port_range are in use: widen the range with sysctl, "
    "connect to a socket file, or use fewer --threads";

#endif
