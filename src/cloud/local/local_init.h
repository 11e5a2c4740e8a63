/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_init.h - the first process of a machine: stint-cloud-local, started once more as
 * 'stint-cloud-local init SCRIPT NAME ADDRESS PREFIX-LENGTH'.
 *
 * Two processes. The outer makes network, mount, host name, process and IPC namespaces, stays
 * outside of the process namespace and waits; the inner is process 1 in there, sets up host name,
 * /proc and the network, runs the script as its child and reaps. When the script ends, or the outer is
 * asked to end (SIGTERM) or loses its parent, the inner ends, and with it, by the kernel's hand,
 * everything that runs there, the mounts and the network link.
 *
 * Over standard output it says 'r' when the network namespace is there and 'u' when the script runs;
 * over standard input it waits, in between, for a byte that says that eth0 is there. Standard
 * error is the machine's console, and stays so for the script.
 */
#ifndef STINT_CLOUD_LOCAL_INIT_H
#define STINT_CLOUD_LOCAL_INIT_H

/* The exit status: that of the script, or 125 if it could not be started. */
int local_init_main(int argc, char **argv);

#endif
