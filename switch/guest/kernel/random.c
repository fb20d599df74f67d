/* The guest's randomness is a function of its seed, so that two runs are the same.
 *
 * User-mode Linux asks the C library for random bytes, at boot and when it refreshes its generator. The linker
 * replaces that function by this one (--wrap=getrandom). Everything random in the guest follows: initial sequence
 * numbers, ports, hash seeds, addresses of programs.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define SEED_VARIABLE "P4SCHED_GUEST_SEED"

ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned int flags);

ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned int flags)
{
	static uint64_t state;
	static int seeded;
	unsigned char *next = buffer;
	size_t left = length;

	(void)flags;
	if (!seeded) {
		const char *seed = getenv(SEED_VARIABLE);

		state = seed ? strtoull(seed, NULL, 10) : 0;
		seeded = 1;
	}
	while (left > 0) {
		uint64_t word = state += 0x9e3779b97f4a7c15;
		size_t part = left < sizeof(word) ? left : sizeof(word);

		word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
		word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
		word ^= word >> 31;
		memcpy(next, &word, part);
		next += part;
		left -= part;
	}
	return (ssize_t)length;
}
