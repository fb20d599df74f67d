// A logarithmic histogram of 32-bit values: bucket 0 counts the value 0, bucket i the values 2^(i-1) .. 2^i - 1.

// Entries of an lpm table on the value. `count` is the action that counts a bucket; the table calls it with bucket 0 by
// default.
#define HISTOGRAM_ENTRIES(count) \
    0x80000000 &&& 0x80000000: count(32); \
    0x40000000 &&& 0xc0000000: count(31); \
    0x20000000 &&& 0xe0000000: count(30); \
    0x10000000 &&& 0xf0000000: count(29); \
    0x08000000 &&& 0xf8000000: count(28); \
    0x04000000 &&& 0xfc000000: count(27); \
    0x02000000 &&& 0xfe000000: count(26); \
    0x01000000 &&& 0xff000000: count(25); \
    0x00800000 &&& 0xff800000: count(24); \
    0x00400000 &&& 0xffc00000: count(23); \
    0x00200000 &&& 0xffe00000: count(22); \
    0x00100000 &&& 0xfff00000: count(21); \
    0x00080000 &&& 0xfff80000: count(20); \
    0x00040000 &&& 0xfffc0000: count(19); \
    0x00020000 &&& 0xfffe0000: count(18); \
    0x00010000 &&& 0xffff0000: count(17); \
    0x00008000 &&& 0xffff8000: count(16); \
    0x00004000 &&& 0xffffc000: count(15); \
    0x00002000 &&& 0xffffe000: count(14); \
    0x00001000 &&& 0xfffff000: count(13); \
    0x00000800 &&& 0xfffff800: count(12); \
    0x00000400 &&& 0xfffffc00: count(11); \
    0x00000200 &&& 0xfffffe00: count(10); \
    0x00000100 &&& 0xffffff00: count(9); \
    0x00000080 &&& 0xffffff80: count(8); \
    0x00000040 &&& 0xffffffc0: count(7); \
    0x00000020 &&& 0xffffffe0: count(6); \
    0x00000010 &&& 0xfffffff0: count(5); \
    0x00000008 &&& 0xfffffff8: count(4); \
    0x00000004 &&& 0xfffffffc: count(3); \
    0x00000002 &&& 0xfffffffe: count(2); \
    0x00000001 &&& 0xffffffff: count(1);
