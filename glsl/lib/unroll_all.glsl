// NVIDIA's compiler unrolls short loops alone; arrays that a longer one indexes it keeps in memory,
// which takes 2 to 8 times as long (H200). Others know no such pragma.
#pragma optionNV(unroll all)
