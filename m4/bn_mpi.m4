dnl messages between hosts; each implementation has a module of its own.
AC_DEFUN([BN_MPI], [
  BN_OPTIONAL([openmpi], [OPENMPI], [ompi-c], [mpi.h], [mpi], [MPI_Init_thread],
    [runs under Open MPI's mpirun], [libopenmpi-dev])
  BN_OPTIONAL([mpich], [MPICH], [mpich], [mpi.h], [mpich], [MPI_Init_thread],
    [runs under MPICH's mpirun], [libmpich-dev])
])
