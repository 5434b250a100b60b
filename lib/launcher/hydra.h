/* SPDX-License-Identifier: BSD-3-Clause */
/* hydra.h - a task that Hydra started: mpiexec of MPICH, Intel MPI and MVAPICH.
 *
 * Of the launch a task's environment has four numbers (PMI_RANK, PMI_SIZE,
 * MPI_LOCALRANKID, MPI_LOCALNRANKS) and nothing else: no nodes, no hosts, no
 * name of the job. The process that it descends from has more on its command
 * line (measured with MPICH 4.0.2):
 *
 *   hydra_pmi_proxy --control-port n1:35397 --rmk user --launcher ssh ... --pgid 0 ... --proxy-id 1
 *
 * control-port is mpiexec's, with its host as the list of hosts has it; the
 * proxies are numbered in the order of the nodes, and ranks are dealt out to
 * them in turn, so proxy 0 has rank 0. --rmk is where the hosts come from.
 * Started by srun (--launcher slurm) all proxies have --proxy-id -1 and take
 * SLURM_NODEID for it, which their tasks inherit with the rest of that step:
 * one proxy a node. Where mpiexec runs in a batch script, MPICH 4.3 hands on
 * what that has, SLURM_NODEID=0 on all nodes (measured under Slurm 24.11; not
 * 4.0.2 under 22.05), and only the host's name is the node's own. Intel MPI has
 * another process between:
 *
 *   hydra_bstrap_proxy --upstream-host n1 --upstream-port 34921 --pgid 0 --launcher ssh ...
 *       --tree-width 16 --tree-level 1 ... --proxy-id 0 --node-id 0 ...
 *
 * whose upstream is mpiexec only for the first tree-width proxies (llnl and
 * volcano-sh issue reports; there is no public source).
 *
 * The rules, for both families:
 * - nodes: 1 if the local size is the size; SLURM_STEP_NUM_NODES if srun
 *   started the proxies; else size / local size, if there is no rest.
 * - node rank: if srun started the proxies, this host's place in
 *   SLURM_STEP_NODELIST, or SLURM_NODEID if it goes by another name there, where
 *   ranks that are dealt out in turn can be there (not with -rankmap); else the proxy's
 *   number, if an even layout agrees with it (rc_layout_agrees); without a
 *   proxy in sight, that of an even layout by slot.
 * - host of rank 0: SLURM_STEP_NODELIST's first if srun started the proxies
 *   (rank 0 and that node's first rank refuse where a rank map begins elsewhere);
 *   else the first of SLURM_JOB_NODELIST (--rmk slurm, and it has as many hosts
 *   as there are nodes), of PBS_NODEFILE (--rmk pbs) or PE_HOSTFILE (--rmk sge)
 *   where this node has that file, of HYDRA_HOST_FILE or I_MPI_HYDRA_HOST_FILE
 *   if it is set; else mpiexec's own host. All but the first only until RANK 0
 *   has compared it with its own addresses. mpiexec's command line, which
 *   names the hosts too, is to be had on its own node only: what one node
 *   knows and another does not is no master for both.
 */
#ifndef ROLLCALL_LAUNCHER_HYDRA_H
#define ROLLCALL_LAUNCHER_HYDRA_H

#include "launcher/facts.h"

/* The nearest proxy is Intel MPI's; without one in sight, variables are there
 * that only its launcher sets. */
bool rc_hydra_is_intel(struct rc_reader *reader);

/* The task descends from a proxy of either; asks for the ancestors. */
bool rc_hydra_in_sight(struct rc_reader *reader);

/* A family's recognise and read, as registry.h describes them; family is its id. */
enum rc_claim rc_hydra_recognise(struct rc_reader *reader, const char *family, struct rc_facts *facts);
bool rc_hydra_read(struct rc_reader *reader, const struct rc_launcher *launcher, struct rc_facts *facts);

#endif
