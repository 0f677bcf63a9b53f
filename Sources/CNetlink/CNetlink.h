/* What the Glibc module leaves out of talking to the kernel about links and routes: the constants of rtnetlink.
 * No logic. Layouts are read and written field by field, since what comes may be shorter than it says. */
#ifndef DUNLIN_CNETLINK_H
#define DUNLIN_CNETLINK_H

#include <stdint.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* By value, because <linux/if.h> and <linux/if_arp.h> include <sys/socket.h>, which would claim libc's socket types for
 * this module. They are the kernel's ABI. */
static const uint32_t dunlin_iff_up = 0x1;
static const uint32_t dunlin_iff_loopback = 0x8;
static const uint32_t dunlin_iff_point_to_point = 0x10;
static const uint32_t dunlin_iff_running = 0x40;

static const uint8_t dunlin_operstate_dormant = 5;

static const uint16_t dunlin_arphrd_ppp = 512;
static const uint16_t dunlin_arphrd_rawip = 519;
static const uint16_t dunlin_arphrd_tunnel = 768;
static const uint16_t dunlin_arphrd_tunnel6 = 769;
static const uint16_t dunlin_arphrd_sit = 776;
static const uint16_t dunlin_arphrd_ipgre = 778;
static const uint16_t dunlin_arphrd_ip6gre = 823;
static const uint16_t dunlin_arphrd_none = 0xFFFE;

#endif
