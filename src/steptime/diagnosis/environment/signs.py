"""Signs that several kinds share: what the same trouble looked like in older and newer releases."""

from steptime.diagnosis.condition import Says

CUDART_LINE = Says(
    r"could not find cuda drivers on your machine",
    r"could not (load dynamic|dlopen) library 'libcudart\.so",
    r"libcudart\.so\.\d{1,2}(\.\d)?: cannot open shared object",
    r"couldn't open cuda library libcu(dart|blas)",
    r"ignore above cudart dlerror if you do not have a gpu",
)
SKIPPED_GPUS = Says(
    r"cannot dlopen some gpu libraries",
    r"skipping registering gpu devices",
)
NO_GPU_LISTED = Says(
    (
        r"list_physical_devices\( ?['\"]?gpu['\"]? ?\)\)? ?(is|==|returns|prints|gives|:|->|#)? ?(an "
        r"empty list|empty|\[\])"
    ),
    r"num gpus available: ?0(?!\d)",
    r"list_physical_devices.{0,12} (is |was |stays )?(empty|\[\])",
    r"list of (gpus|devices) is empty",
    r"gpu is not available",
    r"no gpu/tpu found",
    r"gpu device not found",
    r"gpus? ?'?,? ?:? ?\[\]",
    (
        r"\[physicaldevice\(name='/physical_device:cpu:0', device_type='cpu'\)(, "
        r"?physicaldevice\(name='/physical_device:xla_.{0,40}\)){0,2}\]"
    ),
    r"num gpus: ?0(?!\d)",
    r"is_gpu_available\(.{0,30}false",
    (
        r"(does not|doesn't|not|cannot|can't|won't) (detect|find|see|recogni[sz]e|use|using|list)"
        r"\w{0,4}( the| my| any| a)? ?gpu"
    ),
    r"lists? (only the cpu|no gpu)",
    r"sees? (only the cpu|no gpu)",
)
NO_DEVICE = Says(
    r"cuda_error_no_device",
    r"no cuda-capable device is detected",
    r"cudaerrornodevice",
)
CUINIT_UNKNOWN = Says(
    r"failed call to cuinit: (internal: cuda error: failed call to cuinit: )?cuda_error_unknown",
    r"cuinit.{0,60}cuda_error_unknown",
    r"cuda unknown error - this may be due to an incorrectly set up environment",
)
LIBCUDA_LINE = Says(
    r"could not (load dynamic|dlopen) library 'libcuda\.so\.1'",
    r"libcuda\.so\.1: cannot open shared object",
    r"failed to find libcuda\.so",
    r"couldn't open cuda library libcuda\.so",
    r"could not find libcuda\.so",
)
CUINIT_303 = Says(
    r"unknown error \(303\)",
    r"cuinit: unknown error(?!\(34|\()",
    r"curesult\(-1\)",
    r"cuinit: unknown error \(-1\)",
)
SMI_FAILED = Says(
    r"nvidia-smi has failed because it couldn.{1,3}t communicate with the nvidia driver",
    r"nvidia-smi has failed because you do not have",
    r"couldn.{1,3}t communicate with the nvidia driver",
)
CUDNN_MISMATCH = Says(
    r"loaded runtime cudnn library: ?.{1,60}but source was compiled wit",
    r"loaded cudnn library: .{1,12} but source was compiled against",
    r"cudnn library needs to have matching major version",
    r"cudnn.{0,40}version mismatch|cudnn_status_version_mismatch|cudnn_status_sublibrary_version_mismatch",
)
CUDA_IN_USE = Says(
    r"successfully opened (dynamic|cuda) library libcu(dart|blas|dnn|fft)",
    r"created (tensorflow )?device .{0,80}gpu:\d",
    r"found device \d with properties",
    r"loaded (runtime )?cudnn",
    r"cuda_(driver|dnn|blas|gpu_executor|executor|platform)\.cc",
    r"ignoring visible gpu device",
    r"physical_device:gpu:0",
    r"gpulaunchkernel",
    r"cuda_error_(?!no_device)",
)
