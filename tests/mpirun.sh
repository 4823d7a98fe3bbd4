# Open MPI's mpirun by root, more ranks than processors, and none bound to one, as Open MPI 4 and 5 spell it.
# Files that 5 leaves behind where it is killed lie in $work: the next one with its process number stumbles over them.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR="$work"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 # a rank that waits leaves the processor to the others
export OMPI_MCA_btl_base_warn_component_unused=0
