"""Provides arrays in the memory of a GPU, of CuPy, PyTorch or JAX, or of CUDA's runtime alone if none of them is
installed."""

import ctypes
import ctypes.util
import glob
import importlib

import numpy as np

LIBRARIES = ("cupy", "torch", "jax", "cudart")


def _cudart():
    names = [ctypes.util.find_library("cudart"), "libcudart.so"]
    names += sorted(glob.glob("/usr/local/cuda/lib*/libcudart.so*"), reverse=True)
    for name in filter(None, names):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise ImportError("there is no libcudart.so")


class Runtime:
    """The few functions of CUDA's runtime that the tests need."""

    def __init__(self):
        self._library = _cudart()

    def _call(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: error {status}")

    def num_gpus(self):
        count = ctypes.c_int()
        return count.value if self._library.cudaGetDeviceCount(ctypes.byref(count)) == 0 else 0

    def free_bytes(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._call("cudaMemGetInfo", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def allocate(self, size):
        address = ctypes.c_void_p()
        self._call("cudaMalloc", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def release(self, address):
        self._library.cudaFree(ctypes.c_void_p(address))

    def copy_to_gpu(self, address, array):
        self._call("cudaMemcpy", ctypes.c_void_p(address), array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes), 1)


class CudartArray:
    """An array that has `__cuda_array_interface__` and nothing else."""

    def __init__(self, array):
        array = np.ascontiguousarray(array)
        self._runtime = Runtime()
        self.shape, self.dtype, self.nbytes = array.shape, array.dtype, array.nbytes
        self._address = self._runtime.allocate(array.nbytes)
        self._runtime.copy_to_gpu(self._address, array)

    def __del__(self):
        if getattr(self, "_address", None):
            self._runtime.release(self._address)

    @property
    def __cuda_array_interface__(self):
        data = (self._address, False)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "version": 3, "strides": None}


def has_gpu():
    try:
        return Runtime().num_gpus() > 0
    except ImportError:
        return False


def to_gpu(array, library):
    """Returns the array in the memory of the first GPU. Raises ImportError if the library is missing or finds no
    GPU."""
    if library == "cudart":
        return CudartArray(array)
    module = importlib.import_module(library)
    if library == "cupy":
        return module.asarray(array)
    if library == "torch":
        if not module.cuda.is_available():
            raise ImportError("torch without CUDA")
        return module.from_numpy(np.ascontiguousarray(array)).cuda()
    module.config.update("jax_enable_x64", True)
    if module.default_backend() != "gpu":
        raise ImportError("jax without CUDA")
    return module.numpy.asarray(array)
